"""What runs for each of many things."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
find . -name '*.pyc' -exec rm -f {} + => rm -f './…/*.pyc'
find / -exec rm -rf {} \; => rm -rf /
find /a /b -type f -execdir sh -c 'rm {}' \; => [in /a/] sh -c 'rm ./…' ;; [in /b/] sh -c 'rm ./…'
a b |> xargs rm -rf => rm -rf a b
a\nb c |> xargs -I{} sh -c 'rm {}' => sh -c 'rm a' ;; sh -c 'rm b c'
a |> xargs => nothing
/ |> xargs -n1 rm -rf => rm -rf /
parallel rm -rf {} ::: a b => sh{rm -rf 'a'} ;; sh{rm -rf 'b'}
parallel ::: 'rm a' 'rm b' => sh{rm a} ;; sh{rm b}
rm a\nrm b |> parallel => sh{rm a} ;; sh{rm b}
watchexec -e py rm x => rm x
entr -s 'rm x' => sh{rm x}
find . -exec rm {} ; => rm .
find . -name x -ok rm {} ; => rm './…/x'
find . -type f -exec grep -l x {} + => grep -l x './…'
find . -exec echo a ; -exec rm {} + => echo a ;; rm .
find . -delete => nothing
find . -print => nothing
find / -name core -execdir rm -- {} + => [in /] rm -- ./core
find . ! -name x -exec rm -rf {} + => rm -rf .
find . -maxdepth 1 -exec sh -c 'rm "$1"' _ {} ; => sh -c 'rm "$1"' _ './…'
fd -e log -x rm => rm './…/*.log'
fd x /etc -X rm -rf {} => rm -rf '/etc/…/*x*'
fd pat --exec-batch vim => vim './…/*pat*'
fd -HI '^node_modules$' -X rm -rf => rm -rf './…/node_modules'
fd '^\.venv$' -x rm -rf {} => rm -rf './…/.venv'
fd -g '*.egg-info' -X rm -rf => rm -rf './…/*.egg-info'
fd -g '*' -X rm -rf => rm -rf './…'
fd '.*' -X rm -rf => rm -rf './…'
fd -p src -X rm -rf => rm -rf './…'
fd 'a|.' -X rm -rf => rm -rf './…'
fd -X rm -rf => rm -rf './…'
fd pat => nothing
a\nb |> xargs -n1 rm => rm a ;; rm b
a b |> xargs -0 rm => rm 'a b'
a,b |> xargs -d, rm => rm a b
a\nb |> xargs -I % rm -rf %/c => rm -rf a/c ;; rm -rf b/c
a |> xargs -i rm {} => rm a
a |> xargs --replace=@ rm @ => rm a
a b\nc d |> xargs -L1 rm => rm a b ;; rm c d
a |> xargs -t -r -P4 sh -c 'rm "$@"' _ => sh -c 'rm "$@"' _ a
rm -rf / |> xargs sudo => sudo rm -rf /
rm x |> xargs -I{} sh -c '{}' => sh -c 'rm x'
xargs -a f rm => rm '…'
a |> parallel rm => sh{rm 'a'}
a |> parallel -j2 'rm {}; ls' => sh{rm 'a'; ls}
parallel -j2 rm -rf {1}/{2} ::: a b ::: c => sh{rm -rf 'a'/'c'} ;; sh{rm -rf 'b'/'c'}
parallel rm ::: a => sh{rm 'a'}
parallel -a f rm => sh{rm …}
parallel --semaphore rm x => sh{rm x}
sem -j2 rm x => sh{rm x}
parallel -q rm 'a b' ::: c => sh{rm a b 'c'}
parallel -S h rm ::: a => sh{rm 'a'}
parallel --pipe rm x => sh{rm x}
parallel :::: f => sh{…}
ls |> entr rm /_ => rm /_
entr -r make => sh{make}
watchexec -n rm x => rm x
watchexec --exts py -- pytest -q => pytest -q
nodemon --exec 'rm x' f.js => sh{rm x}
nodemon f.js => node<f.js
nodemon -x 'rm x' => sh{rm x}
concurrently 'rm x' 'ls' => sh{rm x} ;; sh{ls}
concurrently -n a,b 'rm x' ls => sh{rm x} ;; sh{ls}
onchange '**/*.js' -- rm x => rm x
cargo-watch -x test -s 'rm x' => sh{rm x}
chokidar '**' -c 'rm x' => sh{rm x}
reflex -r x -- rm x => rm x
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_for_each_of_many(command, expected):
    assert inside(command) == expected
