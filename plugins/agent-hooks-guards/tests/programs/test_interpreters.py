"""What interpreters run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
python -c 'code' a => python{code} ['-c', 'a']
python3 -m pdb x.py => python<x.py
python3 -m timeit -s 'import os' 'os.system("x")' => python{import os\nos.system("x")}
python3 -m pip install x => pip install x
python3 -m http.server => nothing
python3 x.py a => python<x.py ['a']
print(1) |> python3 - => python<-
node -pe 'code' => node{console.log(code)}
node --import 'data:text/javascript,rm' x.js => node{…} ;; node<x.js
deno eval 'x' => node{x}
deno run https://e.com/x.ts => node{…}
perl -ne 'print' f => perl{print\n} ['f']
perl -MFoo -e 'x' -e 'y' => perl{use Foo;\nx\ny}
ruby -rfoo -e x => ruby{x}
php -r x => php{x}
php -d auto_prepend_file=/tmp/x y.php => php<y.php ;; sh{/tmp/x}
elixir -e 'System.cmd("rm", ["-rf", "/"])' => other{System.cmd("rm", ["-rf", "/"])}
erl -noshell -eval 'os:cmd("rm -rf /")' => other{os:cmd("rm -rf /")}
R -e 'system("x")' => r{system("x")}
coverage run x.py => python<x.py
rails runner 'x' => ruby{x}
crystal eval 'system("rm x")' => crystal{system("rm x")}
python3.11 -c x => python{x} ['-c']
python -c 'import os' a b => python{import os} ['-c', 'a', 'b']
python -Wignore -uc code => python{code} ['-c']
python -m timeit -n 1 'code' => python{1\ncode}
python -m cProfile -o f x.py => python<x.py
python -m cProfile -m mod.run => nothing
python -m trace --trace x.py => python<x.py
python -m pdb -c 'continue' x.py => python<x.py
python -m coverage run x.py => coverage run x.py
python -m twine upload dist/x => twine upload dist/x
python -m pytest tests => python<pytest.py ['tests']
python -m venv .venv => python<venv.py ['.venv']
python -m json.tool => nothing
python => nothing
code |> python => python<-
code |> python - a => python<-
python x.py --flag => python<x.py ['--flag']
python -V => nothing
python --help => nothing
python -i x.py => python<x.py
python manage.py shell -c 'code' => python<manage.py ['shell', '-c', 'code'] ;; python{code}
python manage.py migrate => python<manage.py ['migrate']
python /dev/stdin => python</dev/stdin
pypy3 -c code => python{code} ['-c']
ipython -c code => python{code}
coverage report => nothing
node x.js a => node<x.js ['a']
node -e code a => node{code} ['a']
node --eval=code => node{code}
node -p 'code' => node{console.log(code)}
node --require /tmp/x.js y.js => node</tmp/x.js ;; node<y.js
node -r dotenv/config y.js => node<y.js
node -r ./setup y.js => node<./setup ;; node<y.js
node --test => nothing
node --check x.js => nothing
node -v => nothing
code |> node => node<-
code |> node - => node<-
node inspect x.js => node<x.js
tsx x.ts => node<x.ts
deno run -A x.ts a => node<x.ts ['a']
deno run - => nothing
deno task build => nothing
deno test => nothing
perl x.pl a => perl<x.pl ['a']
perl -e code -- a => perl{code} ['a']
perl -ane code f => perl{@F = split(' ', $_);\ncode\n} ['f']
perl -F: -e code f => perl{@F = split(' ', $_);\ncode\n} ['f']
ruby -F, -ane code f => ruby{$F = $_.split\ncode\n} ['f']
perl -i.bak -pe 's/a/b/' f => perl{s/a/b/\n;print $_;\n} ['f']
x |> perl -pe 's/a/b/' => perl{$_ = <STDIN>;\ns/a/b/\n;print $_;\n}
perl -0777 -e code f => perl{code} ['f']
perl -Mstrict -we code => perl{use strict;\ncode}
perl -M'POSIX;system("rm x")' -e1 => perl{use POSIX;system("rm x");\n1}
perl -c x.pl => perl<x.pl
code |> perl => perl<-
perl -v => nothing
ruby -e code -e more => ruby{code\nmore}
ruby -ne code f => ruby{code\n} ['f']
x |> ruby -pe code => ruby{$_ = gets\ncode\n;print $_\n}
ruby x.rb => ruby<x.rb
ruby -v => nothing
php -r code => php{code}
php x.php => php<x.php
php -B a -R b -E c => php{a\nb\nc}
php -S localhost:80 => nothing
php -d memory_limit=1G x.php => php<x.php
php artisan migrate => php<artisan ['migrate']
php artisan tinker --execute='code' => php<artisan ['tinker', '--execute=code'] ;; php{code}
code |> php => php<-
lua -e code => lua{code}
lua x.lua => lua<x.lua
R => nothing
mix run -e 'System.shell("rm x")' => other{System.shell("rm x")} ['run']
osascript -e 'do shell script "rm x"' => applescript{do shell script "rm x"}
scala -e 'import sys.process._; "rm x".!' => other{import sys.process._; "rm x".!}
guile -c '(system "rm x")' => other{(system "rm x")}
ghc -e 'System.Process.system "rm x"' => other{System.Process.system "rm x"}
clojure -e '(clojure.java.shell/sh "rm" "x")' => other{(clojure.java.shell/sh "rm" "x")}
raku -e 'shell "rm x"' => other{shell "rm x"}
tcc -run x.c => nothing
mongosh --eval 'x()' => node{x()}
mongosh -f f.js => node<f.js
rails runner 'code' => ruby{code}
rails server => nothing
wp eval 'code' => php{code}
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_code_of_interpreters(command, expected):
    assert inside(command) == expected
