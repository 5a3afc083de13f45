"""What shells run, and what a shell runs later or through one."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
bash -euo pipefail -c 'rm x' a b => sh{rm x} ['a', 'b']
bash -c -- 'rm x' => sh{rm x} ['bash']
bash -O extglob -lc 'x' => sh{x} ['bash']
bash script.sh a b => sh<script.sh ['a', 'b']
bash -n x.sh => nothing
bash => nothing
rm x |> bash => sh<-
rm x |> bash -s a => sh<- ['bash', 'a']
zsh -oextendedglob -c x => sh{x} ['zsh']
command -v rm => nothing
command -p rm x => rm x
exec -a foo rm x => rm x
trap 'rm x' EXIT => sh{rm x}
trap - INT => nothing
watch -n1 rm x => rm x
flock /tmp/l rm x => rm x
flock /tmp/l -c 'rm x' => sh{rm x}
script -qc 'rm x' /dev/null => sh{rm x}
script -q /dev/null rm -rf x => rm -rf x
pwsh -enc cgBtACAAeAA= => powershell{rm x}
pwsh -NoP -Com rm x => powershell{rm x}
cmd /c del x => cmd{del x}
busybox rm x => rm x
* * * * * rm x |> crontab - => sh{…}
rm x |> at now => sh<-
wsl -e rm x => rm x
wsl rm x => sh{rm x}
expect -c 'spawn rm x; interact' => sh{…}
at -f f now => sh<f
flock -c 'rm x' f => sh{rm x}
dash -c 'rm x' => sh{rm x} ['dash']
ksh -c 'rm x' => sh{rm x} ['ksh']
sh -xec 'rm x' => sh{rm x} ['sh']
sh -c -e 'rm x' => sh{rm x} ['sh']
sh -c 'rm $1' _ x => sh{rm $1} ['_', 'x']
bash --norc -c 'rm x' => sh{rm x} ['bash']
bash --rcfile f -i => sh<f
bash --rcfile f -c 'rm x' => sh<f ;; sh{rm x} ['bash']
bash +x -c 'rm x' => sh{rm x} ['bash']
bash -o pipefail script.sh => sh<script.sh
bash -- script.sh => sh<script.sh
bash -s => nothing
rm x |> bash - => sh<-
rm x |> bash -s -- a b => sh<- ['bash', 'a', 'b']
bash /dev/stdin => sh</dev/stdin
fish -c 'rm x' => sh{rm x}
fish --command='rm x' => sh{rm x}
fish -C 'rm x' f.fish => sh{rm x}
fish f.fish a => sh<f.fish ['a']
fish -n f.fish => nothing
rm x |> fish => sh<-
nu -c 'rm x' => sh{rm x}
xonsh -c 'rm x' => sh{rm x} ['xonsh']
csh -fc 'rm x' => sh{rm x} ['csh']
busybox sh -c 'rm x' => sh -c 'rm x'
toybox rm x => rm x
busybox => nothing
busybox --list => nothing
eval rm x => sh{rm x}
eval 'rm x' ';' ls => sh{rm x ; ls}
eval => nothing
source f.sh a => sh<f.sh ['a']
. f.sh => sh<f.sh
exec rm x => rm x
exec => nothing
exec -c -a n rm x => rm x
builtin eval 'rm x' => eval 'rm x'
command rm x => rm x
command -V rm => nothing
trap 'rm x' INT TERM => sh{rm x}
trap -- 'rm x' EXIT => sh{rm x}
trap -p => nothing
trap '' INT => nothing
compgen -C 'rm x' a => sh{rm x}
complete -F f a => nothing
mapfile -C 'rm x' -c 1 a => sh{rm x}
fc -e 'rm x' => sh{rm x}
watch -x rm x => rm x
watch -n 5 -d 'rm x | y' => sh{rm x | y}
flock -n f rm x => rm x
flock -n f sh -c 'rm x' => sh -c 'rm x'
flock -w 5 f -c 'rm x' => sh{rm x}
flock 9 => nothing
script -c 'rm x' => sh{rm x}
script --command 'rm x' f => sh{rm x}
script f -c 'rm x' => sh{rm x}
script -a f => nothing
at -l => nothing
rm x |> at -q b now + 1 minute => sh<-
rm x |> batch => sh<-
crontab -l => nothing
crontab -r => nothing
pwsh -c 'rm x' => powershell{rm x}
pwsh -File f.ps1 a => powershell<f.ps1 ['a']
pwsh f.ps1 => powershell<f.ps1
powershell.exe -ExecutionPolicy Bypass -NoProfile -Command "rm x" => powershell{rm x}
powershell 'rm x' => powershell{rm x}
pwsh -NonInteractive -EncodedCommand cgBtACAAeAA= => powershell{rm x}
rm x |> pwsh -Command - => powershell<-
pwsh -enc !!! => powershell{…}
cmd /c 'del x' => cmd{del x}
cmd.exe /s /c del x => cmd{del x}
cmd /q /k del x => cmd{del x}
wsl -d Ubuntu -u root -- rm x => sh{rm x}
wsl --list => nothing
coreutils rm x => rm x
BASH.EXE -c x => sh{x} ['bash']
rc -c 'rm x' => sh{rm x} ['rc']
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_shells_and_what_waits_for_them(command, expected):
    assert inside(command) == expected
