"""What variables make a program run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

from agent_hooks_guards import ShellGuard
from agent_hooks_guards.places.paths import Place

CASES = r"""
GIT_SSH_COMMAND='rm x' git fetch => sh{rm x}
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='rm x' git log => sh{rm x}
PAGER='rm x' git log => sh{rm x}
BASH_ENV=/tmp/x bash -c ls => sh{ls} ['bash'] ;; sh</tmp/x
PS4='$(rm x)' bash -x s.sh => sh<s.sh ;; sh{: "$(rm x)"}
PERL5OPT='-Mbase' perl s.pl => perl<s.pl ;; perl -Mbase
LESSOPEN='|rm x' less f => sh{rm x}
TAR_OPTIONS='--checkpoint-action=exec=rm' tar xf a => tar --checkpoint-action=exec=rm
MAKEFLAGS='--eval=x' make => make --eval=x
NODE_OPTIONS='--require /tmp/x.js' node y.js => node<y.js ;; node --require /tmp/x.js
GIT_CONFIG_GLOBAL=/tmp/x git log => gitconfig</tmp/x
GIT_EDITOR='rm x' git commit => sh{rm x}
GIT_EDITOR=true git rebase --continue => sh{true}
GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~2 => sh{:}
GIT_PAGER=cat git log => sh{cat}
GIT_EXTERNAL_DIFF='rm x' git diff => sh{rm x}
GIT_CONFIG_PARAMETERS="'alias.x'='!rm x'" git x => sh{rm x}
EDITOR='rm x' crontab -e => sh{rm x}
VISUAL='rm x' git commit => sh{rm x}
SUDO_ASKPASS=/tmp/x sudo -A ls => [root] ls ;; sh{/tmp/x}
MANPAGER='rm x' man ls => sh{rm x}
KUBE_EDITOR='rm x' kubectl edit pod x => sh{rm x}
BROWSER='rm x' gh browse => sh{rm x}
ENV=/tmp/x sh -i => sh</tmp/x
ENV=production npm start => nothing
PROMPT_COMMAND='rm x' bash -i => sh{rm x}
PS1='$(rm x)' bash -i => sh{: "$(rm x)"}
PS1='> ' bash -i => nothing
PYTHONSTARTUP=/tmp/x.py python3 => python</tmp/x.py
PERL5DB='BEGIN{system("rm x")}' perl -d x.pl => perl<x.pl ;; perl{BEGIN{system("rm x")}}
RUBYOPT=-r/tmp/x.rb ruby y.rb => ruby<y.rb ;; ruby</tmp/x.rb
RUBYOPT=-W0 ruby y.rb => ruby<y.rb
NODE_OPTIONS=--max-old-space-size=4096 npm run build => node --max-old-space-size=4096
NODE_OPTIONS='--import data:text/javascript,x()' node y.js => node<y.js ;; node --import 'data:text/javascript,x()'
RUSTC_WRAPPER=sccache cargo build => sh{sccache}
VIMINIT=':!rm x' vim f => vim{:!rm x}
LUA_INIT='os.execute("rm x")' lua x.lua => lua<x.lua ;; lua{os.execute("rm x")}
LUA_INIT=@/tmp/x.lua lua x.lua => lua<x.lua ;; lua</tmp/x.lua
RSYNC_RSH='rm x' rsync a h:b => sh{rm x}
LESSOPEN='rm x %s' man ls => sh{rm x %s}
ZDOTDIR=/tmp/z zsh -i => sh</tmp/z/.zshenv ;; sh</tmp/z/.zshrc
SHELL=/tmp/x script f => sh{/tmp/x}
SHELL=/bin/bash script f => sh{/bin/bash}
npm_config_script_shell=/tmp/x npm test => sh{/tmp/x}
CC=clang make => sh{clang}
FOO=bar make test => nothing
A=b ls => nothing
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_named_by_variables(command, expected):
    assert inside(command) == expected


def test_many_variables_that_name_programs_are_not_combined():
    names = "PAGER GIT_PAGER EDITOR VISUAL BROWSER MANPAGER SHELL CC CXX LD".split()
    exported = " ".join(f"{name}=tool{at}" for at, name in enumerate(names))
    assert ShellGuard().decide(f"export {exported}; git log", Place("/w", "/home/dev", "/w"), "sh") == []
