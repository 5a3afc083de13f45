"""Random commands in random disguises, for tests and for a report by hand.

A disguise is a function of a command line that returns another one, which does the same when a shell runs it.
``python tests/disguises.py --count 3000 --seed 7`` decides as many harmful and harmless commands, each in one to three
nested disguises, and reports, by kind of disguise, the harmful ones that pass and the harmless ones that are stopped.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import json
import random
import shlex
from collections import Counter
from shlex import quote, split
from typing import TYPE_CHECKING

from tables import tables

if TYPE_CHECKING:
    from collections.abc import Callable


def name_of(command):
    return split(command)[0]


def behind(before):
    return lambda command: f"{before} {command}"


def rest_of(command):
    return shlex.join(split(command)[1:])


def hexadecimal(command):
    return "".join(f"\\x{ord(char):02x}" for char in command)


def in_python(command):
    return f"import os; os.system({command!r})"


def subscript(command):
    return quote(f"a[$({command})]")


def script(write, run):
    """Write the command into a file and run the file."""
    return lambda command: f"{write.format(quote(command))}; {run}"


def project(name, text, run):
    """Write a project file that holds the command, and start the tool that runs it."""
    return lambda command: f"cat > {name} <<'END'\n{text(command)}\nEND\n{run}"


def interpreter(start, code):
    return lambda command: f"{start} {quote(code(command))}"


def in_perl(command):
    return in_php(command).replace("@", "\\@")


def in_php(command):
    """Return a string literal in which no variable is replaced."""
    return json.dumps(command).replace("$", "\\$")


def in_ruby(command):
    return json.dumps(command).replace("#", "\\#")


# -- disguises ---------------------------------------------------------------------------------------------------------

# The command's name and arguments are tokens of the disguise, so it must be one simple command.
WORDS: dict[str, Callable[[str], str]] = {
    "ANSI-C quotes": lambda c: f"$'{hexadecimal(name_of(c))}' {rest_of(c)}",
    "quotes within": lambda c: "''".join(name_of(c)) + f" {rest_of(c)}",
    "backslashes": lambda c: "\\" + "\\".join(name_of(c)) + f" {rest_of(c)}",
    "a line that is continued": lambda c: f"{name_of(c)[0]}\\\n{name_of(c)[1:]} {rest_of(c)}",
    "nothing within": lambda c: f"{name_of(c)[0]}$(){name_of(c)[1:]}$! {rest_of(c)}",
    "a variable": lambda c: f"x={name_of(c)}; $x {rest_of(c)}",
    "two variables": lambda c: f"a={name_of(c)[0]} b={name_of(c)[1:]}; $a$b {rest_of(c)}",
    "a default": lambda c: f"${{nothing:-{name_of(c)}}} {rest_of(c)}",
    "a part of a text": lambda c: f"x=zz{name_of(c)}zz; ${{x:2:{len(name_of(c))}}} {rest_of(c)}",
    "an end that is removed": lambda c: f"x={name_of(c)}.txt; ${{x%.*}} {rest_of(c)}",
    "the other case": lambda c: f"x={name_of(c).swapcase()}; ${{x~~}} {rest_of(c)}",
    "escapes that are resolved": lambda c: f"x='{hexadecimal(name_of(c))}'; ${{x@E}} {rest_of(c)}",
    "a prompt": lambda c: f"x='$(echo {name_of(c)})'; ${{x@P}} {rest_of(c)}",
    "a variable's name": lambda c: f"x={name_of(c)}; y=x; ${{!y}} {rest_of(c)}",
    "a reference": lambda c: f"x={name_of(c)}; declare -n y=x; $y {rest_of(c)}",
    "an array": lambda c: f'a=({c}); "${{a[@]}}"',
    "an array's element": lambda c: f"a=(x {name_of(c)}); ${{a[3-2]}} {rest_of(c)}",
    "an element by a variable": lambda c: f"i=1; a=(x {name_of(c)}); ${{a[i]}} {rest_of(c)}",
    "an element that is given": lambda c: f"a=([7]={name_of(c)} [3]=ls); ${{a[7]}} {rest_of(c)}",
    "a key": lambda c: f"declare -A m=([k]={name_of(c)} [l]=ls); ${{m[k]}} {rest_of(c)}",
    "a reference to an element": lambda c: f"a=(x {name_of(c)}); y='a[1]'; ${{!y}} {rest_of(c)}",
    "positional parameters": lambda c: f'set -- ls {c}; shift; "$@"',
    "letters one by one": lambda c: f"s=; for c in {' '.join(name_of(c))}; do s=$s$c; done; $s {rest_of(c)}",
    "letters that are counted": lambda c: (
        f"x={name_of(c)[::-1]}; for ((i=0; i<${{#x}}; i++)); do o=${{x:i:1}}$o; done; $o {rest_of(c)}"
    ),
    "the last argument": lambda c: f"echo {name_of(c)}; $_ {rest_of(c)}",
    "fields of a line": lambda c: f"IFS=: read -r a b <<< x:{name_of(c)}; $b {rest_of(c)}",
    "lines of an array": lambda c: f"mapfile -t a <<< {name_of(c)}; ${{a[0]}} {rest_of(c)}",
    "an option's value": lambda c: f"set -- -c {name_of(c)}; getopts c: o; $OPTARG {rest_of(c)}",
    "a group of a match": lambda c: f"[[ x{name_of(c)} =~ ^x(.*)$ ]]; ${{BASH_REMATCH[1]}} {rest_of(c)}",
    "a path": lambda c: f"/usr/bin/../bin/{c}",
    "the output of which": lambda c: f"$(which {name_of(c)}) {rest_of(c)}",
    "a name in brackets": lambda c: f"/bin/[{name_of(c)[0]}]{name_of(c)[1:]} {rest_of(c)}",
    "a hashed name": lambda c: f"hash -p /bin/{name_of(c)} zz; zz {rest_of(c)}",
    "a function of that name": lambda c: f"{name_of(c)}() {{ :; }}; command {c}",
    "a link": lambda c: f"ln -s /bin/{name_of(c)} zz; ./zz {rest_of(c)}",
    "a copy": lambda c: f'cp "$(command -v {name_of(c)})" zz; ./zz {rest_of(c)}',
    "a folder of programs": lambda c: f"ln -s /bin/{name_of(c)} /tmp/b/zz; PATH=/tmp/b:$PATH; zz {rest_of(c)}",
    "the loader": lambda c: f"/lib64/ld-linux-x86-64.so.2 /bin/{c}",
    "arguments of a shell": lambda c: f"bash -c '\"$0\" \"$@\"' {c}",
    "arguments of xargs": lambda c: f"echo {quote(rest_of(c))} | xargs {name_of(c)}",
    "arguments from a file": lambda c: f"xargs -a <(echo {quote(rest_of(c))}) {name_of(c)}",
    "arguments of a function": lambda c: f'f() {{ "$@"; }}; f {c}',
    "find -exec": lambda c: f"find . -maxdepth 0 -exec {c} \\;",
    "zsh's path of a name": lambda c: f"zsh -c {quote(f'={c}')}",
    **{
        f"behind {before}": behind(before)
        for before in (
            "nohup", "nice -n 5", "timeout 5", "env -i A=1", "setsid -w", "stdbuf -oL", "setarch -R", "eatmydata",
            "chronic", "rlwrap", "noglob", "nocorrect", "softlimit -m 1", "trickle -d 5", "cgexec -g cpu:x",
            "systemd-inhibit", "dumb-init", "ssh-agent", "catchsegv", "time", "time -f %E", "command", "exec -a ls",
            "exec", "!", "coproc", "busybox", "flock /tmp/l", "gdb --args", "strace -f",
        )
    },
}  # fmt: skip

# The command is a string in the disguise, so any script will do.
TEXTS: dict[str, Callable[[str], str]] = {
    "eval": lambda c: f"eval {quote(c)}",
    "eval twice": lambda c: f"eval eval {quote(quote(c))}",
    "a prompt that is shown": lambda c: f'x={quote(f"$({c})")}; : "${{x@P}}"',
    "a trace": lambda c: f"PS4={quote(f'$({c})')}; set -x; :",
    "an assignment that is shown": lambda c: f'x={quote(c)}; eval "${{x@A}}"; eval "$x"',
    "an array's keys": lambda c: f'declare -A m=([{quote(c)}]=1); eval "${{!m[@]}}"',
    "a reference that is set": lambda c: f'f() {{ local -n r=$1; r={quote(c)}; }}; f x; eval "$x"',
    "the last word": lambda c: f': {quote(c)}; eval "$_"',
    "printf -v": lambda c: f'printf -v c %s {quote(c)}; eval "$c"',
    "an open file": lambda c: f'exec 7<<< {quote(c)}; read -r -u 7 x; eval "$x"',
    "letters of read": lambda c: f'read -rN {len(c)} x <<< {quote(c)}; eval "$x"',
    "each line": lambda c: f'echo {quote(c)} | while read -r x; do eval "$x"; done',
    "a callback": lambda c: f'f() {{ eval "$2"; }}; mapfile -t -c 1 -C f <<< {quote(c)}',
    "history": lambda c: f"history -s {quote(c)}; fc -s",
    "a condition": lambda c: f"if false; then :; else {c}; fi",
    "a case that falls through": lambda c: f"case x in x) :;& y) {c};; esac",
    "a function": lambda c: f"f() {{ {c}; }}; f",
    "a function that is exported": lambda c: f"f() {{ {c}; }}; export -f f; bash -c f",
    "a function that is shown": lambda c: f'f() {{ {c}; }}; bash -c "$(declare -f f); f"',
    "a function for missing commands": lambda c: f"command_not_found_handle() {{ {c}; }}; nothing1",
    "an alias": lambda c: f"shopt -s expand_aliases\nalias zz={quote(c)}\nzz",
    "an alias behind an alias": lambda c: f"shopt -s expand_aliases\nalias g='command ' zz={quote(c)}\ng zz",
    "an alias as an element": lambda c: f"shopt -s expand_aliases; BASH_ALIASES[zz]={quote(c)}; eval zz",
    "a trap": lambda c: f"trap {quote(c)} DEBUG; :",
    "a coprocess": lambda c: f"coproc bash; echo {quote(c)} >&${{COPROC[1]}}",
    "a coprocess with a name": lambda c: f'coproc B {{ bash; }}; echo {quote(c)} >&"${{B[1]}}"',
    "a subscript in arithmetic": lambda c: f"x={subscript(c)}; echo $((x))",
    "a subscript in a comparison": lambda c: f"x={subscript(c)}; [[ $x -eq 1 ]]",
    "a subscript in let": lambda c: f"x={subscript(c)}; let y=x",
    "a subscript in a test": lambda c: f'x={subscript(c)}; test -v "$x"',
    "a subscript in read": lambda c: f"read -r {subscript(c)} <<< x",
    "a subscript in printf": lambda c: f"printf -v {subscript(c)} x",
    "a subscript in unset": lambda c: f"unset {subscript(c)}",
    "a subscript in a name": lambda c: f"x={subscript(c)}; : ${{!x}}",
    "a number that is declared": lambda c: f"declare -i n; n={subscript(c)}",
    "a here-document's substitution": lambda c: f"cat > /dev/null <<E\n$({c})\nE",
    "a command in braces": lambda c: f": ${{ {c}; }}",
    "a shell's text": lambda c: f"bash -xec {quote(c)}",
    "shells in shells": lambda c: f"bash -c {quote(f'sh -c {quote(c)}')}",
    "a shell's input": lambda c: f"sh -s <<'E'\n{c}\nE",
    "a file of a process": lambda c: f"source <(echo {quote(c)})",
    "an input as a file": lambda c: f". /dev/stdin <<< {quote(c)}",
    "a shell's environment": lambda c: f"BASH_ENV=<(echo {quote(c)}) bash -c :",
    "a text in its environment": lambda c: f"C={quote(c)} sh -c 'eval \"$C\"'",
    "the output of printenv": lambda c: f"C={quote(c)} printenv C | sh",
    "tee to a shell": lambda c: f"echo {quote(c)} | tee >(sh) > /dev/null",
    "output to a shell": lambda c: f"exec 3> >(bash); echo {quote(c)} >&3",
    "script's shell": lambda c: f"script -q /dev/null <<'E'\n{c}\nE",
    "git bisect": lambda c: f"git bisect run sh -c {quote(c)}",
    "sponge": lambda c: f"echo {quote(c)} | sponge | sh",
    "one line of a sequence": lambda c: f"seq -f {quote(f'{c} #%g')} 1 1 | sh",
    "letters that are replaced": lambda c: f"echo {quote(codecs.encode(c, 'rot13'))} | tr A-Za-z N-ZA-Mn-za-m | sh",
    "lines in reverse": lambda c: f"echo {quote(c[::-1])} | rev | sh",
    "octal": lambda c: f"eval \"$(printf '{''.join(f'{chr(92)}{ord(char):03o}' for char in c)}')\"",
    "python": lambda c: f"python3 -c {quote(in_python(c))}",
    "python, attached": lambda c: f"python3 -c{quote(in_python(c) + ' # ' + 'a long line ' * 9)}",
    "python's input": lambda c: f"echo {quote(c)} | python3 -c 'import os, sys; os.system(sys.stdin.read())'",
    "python's input, in reverse": lambda c: (
        f"echo {quote(c[::-1])} | python3 -c 'import os, sys; os.system(sys.stdin.read().strip()[::-1])'"
    ),
    "the output of python": lambda c: f"python3 -c {quote(f'print({c!r})')} | sh",
    "letters that python joins": lambda c: (
        f'eval "$(python3 -c \'print("".join(map(chr, {[ord(char) for char in c]})))\')"'
    ),
    "the output of node": lambda c: f"node -p {quote(json.dumps(c))} | sh",
    "lines that perl changes": lambda c: f"echo {quote(c.replace(' ', '%'))} | perl -pe 's/%/ /g' | sh",
    "lines that ruby changes": lambda c: f'echo {quote(c.replace(" ", "%"))} | ruby -pe \'$_.gsub!("%", " ")\' | sh',
    "a line that awk changes": lambda c: f"echo {quote(c.replace(' ', '%'))} | awk '{{gsub(/%/, \" \"); system($0)}}'",
    "python's environment": lambda c: f"C={quote(c)} python3 -c 'import os; os.system(os.environ[\"C\"])'",
    "perl's arguments": lambda c: f"perl -e 'system(@ARGV)' {c}",
    "perl's environment": lambda c: f"C={quote(c)} perl -e 'system($ENV{{C}})'",
    "perl's lines": lambda c: f"echo {quote(c)} | perl -ne 'system($_)'",
    "ruby's arguments": lambda c: f"ruby -e 'exec ARGV[0]' {quote(c)}",
    "ruby's environment": lambda c: f"C={quote(c)} ruby -e 'system(ENV[\"C\"])'",
    "node's arguments": lambda c: f"node -e 'require(\"child_process\").execSync(process.argv[1])' {quote(c)}",
    "node's environment": lambda c: f"C={quote(c)} node -e 'require(\"child_process\").execSync(process.env.C)'",
    "php's arguments": lambda c: f"php -r 'system($argv[1]);' {quote(c)}",
    "awk's variables": lambda c: f"awk -v c={quote(c)} 'BEGIN {{ system(c) }}'",
    "awk's environment": lambda c: f"C={quote(c)} awk 'BEGIN {{ system(ENVIRON[\"C\"]) }}'",
    "a script of awk": lambda c: f"echo {quote(c)} | awk '{{ print > \"s.sh\" }}'; sh s.sh",
    "fish": lambda c: f"fish -c {quote(f'set x {quote(c)}; eval $x')}",
    # Written in one part, run in another.
    "a script": script("echo {} > s.sh", "bash s.sh"),
    "a script in the path": script("mkdir b; echo {} > b/zz; chmod +x b/zz", "PATH=$PWD/b:$PATH; zz"),
    "a script of tee": script("echo {} | tee a b > /dev/null", "sh b"),
    "a script of dd": script("echo {} | dd of=s.sh", "sh s.sh"),
    "a script of cp": script("echo {} | cp /dev/stdin s.sh", "sh s.sh"),
    "a script of install": script("echo {} | install -m 755 /dev/stdin s", "./s"),
    "a script of sort": script("echo {} | sort -o s.sh", "sh s.sh"),
    "a script of split": script("echo {} | split - s.", "sh s.aa"),
    "a script of a descriptor": script("exec 3> s.sh; echo {} >&3", "sh s.sh"),
    "a script under another name": script("echo {} > s.sh; ln -s s.sh t", "sh t"),
    "a script that is packed": script("echo {} > s.sh; gzip s.sh; gunzip s.sh.gz", "sh s.sh"),
    "a script that is fetched": script("echo {} > /tmp/s; curl -so t.sh file:///tmp/s", "sh t.sh"),
    "a script in a new file": script('f=$(mktemp); echo {} > "$f"', 'sh "$f"'),
    "a script by a glob": script("echo {} > zz1.sh", "sh zz*"),
    "scripts in a folder": script("echo {} > /tmp/q/z.sh", 'for f in /tmp/q/*.sh; do sh "$f"; done'),
    "a script that is found": script("echo {} > s.sh", "find . -name s.sh -exec sh {} \\;"),
    "a script of a patch": lambda c: f"git apply <<'E'\n--- /dev/null\n+++ b/s.sh\n@@ -0,0 +1 @@\n+{c}\nE\nsh s.sh",
}

# The command is written into a project file that a tool runs. Only single disguises: no nesting, no sample.
PROJECTS: dict[str, Callable[[str], str]] = {
    "make": project("Makefile", lambda c: f"all:\n\t{c}", "make"),
    "npm": project("package.json", lambda c: json.dumps({"scripts": {"prelint": c, "lint": "eslint"}}), "npm run lint"),
    "npm pkg": lambda c: f"npm pkg set {quote(f'scripts.clean={c}')} && npm run clean",
    "just": project("justfile", lambda c: f"clean:\n    @{c}", "just clean"),
    "task": project("Taskfile.yml", lambda c: f"tasks:\n  x:\n    cmds:\n      - {c}", "task x"),
    "pytest": project("tests/conftest.py", in_python, "python -m pytest -q"),
    "rake": project("Rakefile", lambda c: f"task :x do\n  sh {in_ruby(c)}\nend", "rake x"),
    "jest": project("jest.config.ts", lambda c: f"require('child_process').execSync({json.dumps(c)})", "npx jest"),
    "cargo": project(
        "build.rs", lambda c: f'fn main() {{ Command::new("sh").args(["-c", {json.dumps(c)}]); }}', "cargo build"
    ),
    "a module": project("extra.py", in_python, "python3 -c 'import extra'"),
    "sitecustomize": project("/tmp/s/sitecustomize.py", in_python, "PYTHONPATH=/tmp/s python3 -c 1"),
    "a C program": project("m.c", lambda c: f"int main() {{ system({json.dumps(c)}); }}", "gcc m.c -o m && ./m"),
}  # fmt: skip

# The command can be decoded, but encoding it hides something: even a harmless one is asked about.
HIDING: dict[str, Callable[[str], str]] = {
    "base64": lambda c: f"echo {base64.b64encode(c.encode()).decode()} | base64 -d | sh",
    "base32": lambda c: f"echo {base64.b32encode(c.encode()).decode()} | base32 -d | sh",
    "hexadecimal": lambda c: f"echo {c.encode().hex()} | xxd -r -p | sh",
    "another host": lambda c: f"ssh web1 {quote(c)}",
}
# More ways in which agents and scripts wrap a whole command line.
WRAPPED: dict[str, Callable[[str], str]] = {
    "sudo": lambda c: f"sudo -u root bash -c {quote(c)}",
    "a login shell": lambda c: f"bash -lc {quote(c)}",
    "a shell behind env": lambda c: f"env FOO=1 bash -c {quote(c)}",
    "a here-document": lambda c: f"bash <<'EOF'\n{c}\nEOF",
    "and": lambda c: f"cd src && {c}",
    "or": lambda c: f"false || {c}",
    "background": lambda c: f"{c} & wait",
    "a loop over words": lambda c: f"for i in 1 2; do {c}; done",
    "a loop that ends": lambda c: f"while true; do {c}; break; done",
    "a substitution": lambda c: f'echo "$({c})"',
    "printf to a shell": lambda c: f"printf '%s\\n' {quote(c)} | bash",
    "subprocess with a shell": interpreter(
        "python3 -c", lambda c: f"import subprocess; subprocess.run({c!r}, shell=True)"
    ),
    "subprocess with a list": interpreter(
        "python3 -c", lambda c: f"import subprocess; subprocess.run({['bash', '-c', c]!r})"
    ),
    "python's here-document": lambda c: f"python3 - <<'EOF'\nimport os\ncmd = {c!r}\nos.system(cmd)\nEOF",
    "parts that python joins": interpreter("python3 -c", lambda c: f"import os; os.system(' '.join({c.split(' ')!r}))"),
    "node": interpreter("node -e", lambda c: f"require('child_process').execSync({json.dumps(c)})"),
    "perl": interpreter("perl -e", lambda c: f"system({in_perl(c)})"),
    "ruby": interpreter("ruby -e", lambda c: f"system({in_ruby(c)})"),
    "php": interpreter("php -r", lambda c: f"shell_exec({in_php(c)});"),
    "lua": interpreter("lua -e", lambda c: f"os.execute({json.dumps(c)})"),
    "awk": interpreter("awk", lambda c: f"BEGIN {{ system({json.dumps(c)}) }}"),
    "find -exec sh": lambda c: f"find . -name x -exec sh -c {quote(c)} \\;",
    "xargs sh": lambda c: f"echo 1 | xargs -I{{}} sh -c {quote(c)}",
    "watch": lambda c: f"watch -n1 {quote(c)}",
    "nohup in the background": lambda c: f"nohup sh -c {quote(c)} > /dev/null 2>&1 &",
    "parallel": lambda c: f"parallel ::: {quote(c)}",
    "a function's argument": lambda c: f'run() {{ eval "$1"; }}; run {quote(c)}',
    "a variable for a shell": lambda c: f'cmd={quote(c)}; bash -c "$cmd"',
}

# -- commands ----------------------------------------------------------------------------------------------------------

TABLES = tables(__file__)
PARTS = TABLES["parts"]
HARMFUL = TABLES["harmful"].splitlines()
HARMLESS = TABLES["harmless"].splitlines()
# A command with one of these must be quoted again by a disguise that takes it apart.
SPECIAL = frozenset("|;&<>`$(){}*?[]~#!\\'\"\n")
# Disguises that take a simple command apart, though its tokens stand at their end.
TAKING_APART = {"perl's arguments"}
# Disguises that work line by line, or replace "%".
ONE_LINE = {
    *(
        "each line",
        "an open file",
        "a callback",
        "lines in reverse",
        "one line of a sequence",
        "perl's lines",
        "history",
    ),
    *("a line that awk changes", "lines that perl changes", "lines that ruby changes", "a script of awk", "a trace"),
    *("a script of sort", "an assignment that is shown", "a coprocess", "a coprocess with a name", "a substitution"),
    *("and", "or", "background", "a loop over words", "a loop that ends"),
    *(name for name, write in TEXTS.items() if "\n" in write("x")),
    *(name for name, write in WRAPPED.items() if "\n" in write("x")),
}
# Inside another disguise, these are asked about even when the command is harmless.
ASKED = {
    *("a coprocess", "a coprocess with a name", "output to a shell", "tee to a shell", "an open file"),
    "a script of a descriptor",
}
LONGEST = 6000


def payload(pool, draw):
    """Return a random command of ``pool``, with its parts filled in."""
    return draw.choice(pool).strip().format(**{part: draw.choice(words.split()) for part, words in PARTS.items()})


def disguised(command, depth, draw, kinds):
    """Return ``command`` in up to ``depth`` random disguises, and their names, innermost first."""
    names = []
    for _ in range(depth):
        name = draw.choice([name for name in kinds if fits(name, command)])
        found = kinds[name](command)
        if len(found) > LONGEST:
            break
        command = found
        names.append(name)
    return command, names


def fits(name, command):
    """Return whether ``command`` means the same in the disguise ``name``."""
    if name in WORDS or name in TAKING_APART:
        return SPECIAL.isdisjoint(command)
    if command.endswith("&") and name in ("background", "a loop over words", "a loop that ends"):
        return False
    return name not in ONE_LINE or ("\n" not in command and "%" not in command)


def sample(pool, count, seed, *, is_harmful):
    """Yield ``count`` times a plain command, the same in one to three disguises, and the names of these.

    A harmful command is nested in disguises of any kind; a harmless one in one of any kind and everyday ones around it.
    """
    draw = random.Random(seed)
    everyday = {**WRAPPED, **{name: write for name, write in WORDS.items() if name.startswith("behind ")}}
    kinds = {**WORDS, **TEXTS, **WRAPPED}
    for number in range(count):
        plain = payload(pool, draw)
        if is_harmful:
            text, names = disguised(plain, 1 + number % 3, draw, {**kinds, **HIDING})
        else:
            text, names = disguised(plain, 1, draw, {name: kinds[name] for name in kinds if name not in ASKED})
            text, further = disguised(text, number % 3, draw, everyday)
            names += further
        yield plain, text, names


def failures(decide, count, seed):
    """Decide ``count`` harmful and ``count`` harmless commands plain and disguised.

    Return, for each of the two, the list of those that a disguise decides wrongly, as pairs of a command line and its
    disguises, and the number of those that are decided rightly when plain.
    """
    found = []
    for pool, is_harmful in ((HARMFUL, True), (HARMLESS, False)):
        rows = [row for row in sample(pool, count, seed, is_harmful=is_harmful) if bool(decide(row[0])) == is_harmful]
        found.append(([row[1:] for row in rows if bool(decide(row[1])) != is_harmful], len(rows)))
    return found


def report(decide, count, seed):
    """Return lines about the failures, by kind of disguise, with some examples."""
    lines = []
    for title, (failed, total) in zip(("lost", "touched"), failures(decide, count, seed), strict=True):
        lines.append(f"{title}: {len(failed)} of {total} ({len(failed) / max(total, 1):.2%})")
        by_kind = Counter(name for _, names in failed for name in names)
        lines += [f"  {number:4}  {name}" for name, number in by_kind.most_common(20)]
        lines += [f"  {text!r}" for text, _ in failed[:10]]
    return lines


if __name__ == "__main__":
    from making import decision

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=3000, help="How many harmful and how many harmless commands.")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(*report(decision, given.count, given.seed), sep="\n")
