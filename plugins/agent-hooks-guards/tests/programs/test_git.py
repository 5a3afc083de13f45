"""What git runs."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
git status => nothing
git -c alias.x='!rm y' x a => sh{rm y 'a'}
git -c alias.x='reset --hard' x => git -c 'alias.x=reset --hard' reset --hard
git -c core.pager='rm x' log => sh{rm x}
git -c core.sshCommand='rm x' fetch => sh{rm x}
git clone 'ext::sh -c rm% x' => sh -c 'rm x'
git clone -u 'rm x' h:r => sh{rm x}
git bisect run rm x => rm x
git rebase -i --exec 'rm x' HEAD~2 => sh{rm x}
git submodule foreach 'rm x' => sh{rm x}
git submodule foreach --recursive git clean -fdx => git clean -fdx
git config alias.x '!rm x' => sh{rm x}
git config --global core.editor 'vim' => sh{vim}
git config user.name x => nothing
git filter-branch --tree-filter 'rm x' HEAD => sh{rm x}
git filter-branch --index-filter='rm x' HEAD => sh{rm x}
git difftool -x 'rm x' => sh{rm x}
git grep -O'rm x' foo => sh{rm x}
git push --receive-pack='rm x' o m => sh{rm x}
git --config-env=core.pager=X log => sh{…}
git commit -m 'rm -rf /' => nothing
git -c include.path=/tmp/x status => gitconfig</tmp/x
git remote add x ext::sh => sh
git archive --remote=ext::sh -x => sh
git -C d -c alias.x='!rm y' x => sh{rm y}
git -c alias.a=b -c alias.b='!rm y' a => git -c alias.a=b -c 'alias.b=!rm y' b
git -c alias.x=x x => nothing
git -c alias.x=log status => nothing
git -c url.ext::sh.insteadOf=x clone x => sh
git -c credential.helper='!rm x' fetch => sh{rm x}
git -c credential.helper=store fetch => nothing
git -c filter.f.clean='rm x' add . => sh{rm x}
git -c diff.external='rm x' diff => sh{rm x}
git -c core.fsmonitor=true status => nothing
git -c core.fsmonitor='rm x' status => sh{rm x}
git -c core.hooksPath=/tmp/h commit -m x => sh</tmp/h/pre-commit ;; sh</tmp/h/post-checkout ;; sh</tmp/h/post-merge ;; sh</tmp/h/pre-push
git -c user.name=x commit => nothing
git -c pager.log='rm x' log => sh{rm x}
git -c sequence.editor='rm x' rebase -i HEAD~3 => sh{rm x}
git -c mergetool.m.cmd='rm x' mergetool => sh{rm x}
git -c submodule.s.update='!rm x' submodule update => sh{rm x}
git clone --config core.pager='rm x' u => sh{rm x}
git clone --template=/tmp/t u => sh{…}
git clone https://h/r => nothing
git config --get alias.x => nothing
git config set alias.x '!rm x' => sh{rm x}
git config alias.co checkout => git checkout
git config --global alias.wipe 'reset --hard' => git reset --hard
git shell -c 'rm x' => sh{rm x}
git filter-repo --commit-callback 'import os' => python{import os}
git fetch --upload-pack 'rm x' h => sh{rm x}
git fetch --upl='rm x' h => sh{rm x}
git rebase -x 'rm x' HEAD~2 => sh{rm x}
git rebase --continue => nothing
git bisect start => nothing
git submodule update --init => nothing
git --exec-path=/tmp status => sh</tmp/git-status
git stash -m 'rm x' => nothing
git push --repo --help => nothing
git help log => nothing
svn --editor-cmd 'rm x' ci => sh{rm x}
"""  # noqa: E501


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_what_git_runs(command, expected):
    assert inside(command) == expected
