"""What other tools run by an option."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
tar cf x --checkpoint=1 --checkpoint-action=exec='rm x' y => sh{rm x}
tar xf a --to-command='rm x' => sh{rm x}
tar -I 'rm x' -xf a => sh{rm x}
tar czf a b => nothing
zip a b -T -TT 'rm x' => sh{rm x}
sort --compress-program=x f => sh{x}
split --filter='rm x' f => sh{rm x}
less +'!rm x' f => sh{rm x}
man -P 'rm x' ls => sh{rm x}
tcpdump -G 1 -w f -z 'rm' => sh{rm}
rg --pre x y => sh{x}
xdotool type 'rm x' => sh{rm x}
ip netns exec n rm x => rm x
gcc -wrapper sh,-c,'rm x' a.c => sh{…}
fzf --preview 'cat {}' => sh{cat {}}
tar -cf x --checkpoint-action exec='rm x' . => sh{rm x}
tar --checkpoint-action=dot -cf x . => nothing
tar cf x -I 'zstd -19' . => sh{zstd -19}
tar -F 'rm x' -M -cf x . => sh{rm x}
tar -xzf a.tgz => nothing
zip -r a b => nothing
zip a b -T --unzip-command 'rm {}' => sh{rm {}}
sort f => nothing
sort --compress-prog='rm x' f => sh{rm x}
split -b 1M f => nothing
split --filter='gzip > $FILE.gz' f => sh{gzip > $FILE.gz}
less f => nothing
less +G f => nothing
man ls => nothing
man --pager='rm x' ls => sh{rm x}
tcpdump -i eth0 -w f => nothing
gpg --photo-viewer 'rm x' --list-keys => sh{rm x}
gpg -d f => nothing
aria2c --on-download-complete=/tmp/x u => sh{/tmp/x}
aria2c u => nothing
nmap -sV h => nothing
bat --pager='rm x' f => sh{rm x}
bat f => nothing
rg x => nothing
rg --pre=cat x => sh{cat}
wget u => nothing
yt-dlp --exec 'rm {}' u => sh{rm {}}
xdotool key Return => nothing
wtype 'rm x' => sh{rm x}
ip addr => nothing
ip netns exec n ip addr => ip addr
gcc a.c => nothing
launchctl submit -l n -- rm x => rm x
launchctl load f => nothing
restic --password-command 'rm x' backup => sh{rm x}
certbot renew --deploy-hook 'systemctl reload nginx' => sh{systemctl reload nginx}
pandoc -F /tmp/x f => sh{/tmp/x}
mail -s x a => nothing
chromium --renderer-cmd-prefix='rm x' => sh{rm x}
chromium https://a => nothing
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_named_by_options(command, expected):
    assert inside(command) == expected
