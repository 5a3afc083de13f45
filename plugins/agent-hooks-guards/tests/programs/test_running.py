"""What runs as another user, in other surroundings, under a debugger."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
sudo -u root A=b rm -rf / => [root, A=b] rm -rf /
sudo -l => nothing
sudo -i => nothing
sudo bash -c x => [root] bash -c x
env -i A=b C=d rm -x y => [no-env, A=b, C=d] rm -x y
env -S 'bash -c "rm -rf /"' x => env bash -c 'rm -rf /' x
env -vS'A=b rm' x => env A=b rm x
env --split='rm -x' y => env rm -x y
env => nothing
su -c 'rm x' root => [root] sh{rm x}
su - root -c 'rm x' => [root] sh{rm x}
runuser -u x -- rm y => [root] rm y
/lib64/ld-linux-x86-64.so.2 /bin/rm x => /bin/rm x
nsenter -t 1 -m -u rm x => [root, here] rm x
unshare -r rm x => rm x
bwrap --bind / / --dev /dev rm x => rm x
gdb -batch -ex 'shell rm x' => sh{rm x}
hyperfine -p 'rm x' 'make' => sh{rm x} ;; sh{make}
systemd-run --user rm x => [root] rm x
chrt -f 10 rm x => rm x
taskset -c 1 rm x => rm x
taskset 0x1 rm x => rm x
perf stat -e x rm y => rm y
setarch x86_64 -R rm x => x86_64 -R rm x
linux64 rm x => rm x
sudo -u x env A=b rm x => [root] env A=b rm x
env --help => nothing
systemd-run -M c rm x => [root] rm x
chroot / rm x => rm x
sudo --user=root --preserve-env=X rm x => [root] rm x
sudo -E -H -u root -- rm x => [root] rm x
sudo -nu root rm x => [root] rm x
sudo -h => nothing
sudo -V => nothing
sudo -k => nothing
sudo -e f => nothing
rm x |> sudo -s => [root] sh<-
rm x |> sudo -i -u bob => [root] sh<-
sudo -D /etc rm x => [root, in /etc] rm x
doas -u x rm y => [root] rm y
pkexec --user root rm x => [root] rm x
run0 rm x => [root] rm x
gosu root rm x => [root] rm x
su-exec root:root rm x => [root] rm x
su root => nothing
rm x |> su => [root] sh<-
su -s /bin/sh -c 'rm x' nobody => [root] sh{rm x}
su bob script.sh a => [root] script.sh a
sg adm -c 'rm x' => sh{rm x}
sg adm 'rm x' => sh{rm x}
rm x |> newgrp adm => sh<-
env -- A=b rm x => [A=b] rm x
env - PATH=/bin rm x => [no-env, PATH=/bin] rm x
env -u HOME -C /etc rm x => [in /etc, HOME=] rm x
env --chdir=/etc rm x => [in /etc] rm x
env A=b => nothing
env -0 => nothing
start-stop-daemon --start --exec /bin/rm -- -rf x => /bin/rm -rf x
start-stop-daemon --stop --pidfile f => nothing
rr record rm x => rm x
gdb -ex '!rm x' p => sh{rm x}
gdb -ex 'python import os' -ex run p => sh{…}
gdb --args rm x => rm x
gdb -x f.gdb p => gdb<f.gdb
lldb -o 'platform shell rm x' -b => sh{rm x}
hyperfine 'rm x' 'ls' => sh{rm x} ;; sh{ls}
perf record -g -- rm x => rm x
perf report => nothing
chroot /mnt /bin/rm x => /bin/rm x
chroot --userspec=a:b /mnt rm x => rm x
nsenter -t 1 -a rm x => [root, here] rm x
nsenter --target 1 --mount -- sh -c 'rm x' => [root, here] sh -c 'rm x'
nsenter -t 55 -n rm x => [root, here] rm x
unshare --map-root-user --mount sh -c 'rm x' => sh -c 'rm x'
bwrap --unshare-all --ro-bind / / --setenv A b -- rm x => rm x
systemd-run --scope -p MemoryMax=1G rm x => [root] rm x
systemd-run --on-calendar=daily rm x => [root] rm x
systemd-run -t -E A=b --uid=0 rm x => [root] rm x
taskset -p 12 => nothing
chrt -p 12 => nothing
/lib/ld-linux.so.2 --library-path /x rm x => rm x
ld-musl-x86_64.so.1 rm x => rm x
env BASH_FUNC_ls%%='() { rm x; }' bash -c ls => [BASH_FUNC_ls%%=() { rm x; }] bash -c ls
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_in_other_surroundings(command, expected):
    assert inside(command) == expected
