"""What editors, filters and clients run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
awk '{print}' f => awk{{print}} ['f']
awk -f x f => awk<x
sed -n -e p -e d f => sed{p\nd} ['f']
sed -i s/a/b/e f => sed{s/a/b/e} ['f']
vim -c ':!rm x' f => vim{:!rm x}
vim +10 f => nothing
vim +'!rm x' f => vim{!rm x}
ex -s f => nothing
q |> ex -s f => vim<-
sqlite3 db '.shell rm x' => sh{rm x}
psql -c '\! rm x' => sh{rm x}
smbclient //h/s -c 'ls; !rm x' => sh{rm x}
hello! |> telnet h 25 => nothing
mysql --pager='rm x' -e 'select' => sh{rm x}
awk 'BEGIN{system("rm x")}' => awk{BEGIN{system("rm x")}}
awk -v a=b -f p.awk f => awk<p.awk
awk --source 'a' --source='b' f => awk{a\nb} ['f']
gawk -e 'a' f => awk{a} ['f']
mawk '{print}' f => awk{{print}} ['f']
sed s/a/b/ f => sed{s/a/b/} ['f']
sed -i.bak -e a -e b f => sed{a\nb} ['f']
sed -f s.sed f => sed<s.sed
sed --expression=a f => sed{a} ['f']
sed -n 1,5p f => sed{1,5p} ['f']
vim f => nothing
vim -c wq f => vim{wq}
vim -es -c 'q' f => vim{q}
vim -S s.vim f => vim<s.vim
vim --cmd 'x' f => vim{x}
vim -u NONE f => nothing
vim -s keys f => vim<keys
nvim --headless -c 'q' => vim{q}
nvim +PlugInstall +qall => vim{PlugInstall} ;; vim{qall}
ex -sc 'x' f => vim{x}
q |> ex f => vim<-
q |> ed -s f => ed<-
ed '!rm x' => sh{rm x}
nano f => nothing
psql -c 'select 1' => nothing
psql -c '\! rm x' db => sh{rm x}
mysql -e 'system rm x' => sh{rm x}
sqlite3 db 'select 1' => nothing
gnuplot -e 'system("rm x")' => other{system("rm x")}
gnuplot f.gp => nothing
octave --eval 'system("rm x")' => other{system("rm x")}
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_code_of_editors_and_filters(command, expected):
    assert inside(command) == expected
