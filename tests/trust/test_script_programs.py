"""What becomes of the words of well-known programs."""

from __future__ import annotations

import pytest

from agent_hooks.trust.script_programs import Use, is_data, is_interpreter, program_of, runs_more, uses


def found(command: str) -> dict[str, Use]:
    return {word: use for use, word in uses(command.split(), lambda word: word.startswith("$"))}


@pytest.mark.parametrize(
    ("command", "word", "use"),
    [
        ("./x a", "./x", Use.RUN),
        ("./x a", "a", Use.MAY_RUN),
        ("python3 -W error x.py a", "x.py", Use.RUN),
        ("bash -o pipefail x", "x", Use.RUN),
        ("bash -ec text a", "text", Use.TEXT),
        ("python3 -c code", "code", Use.PYTHON),
        ("node -e code", "code", Use.CODE),
        ("sudo -u me env A=1 sh x", "x", Use.RUN),
        ("uv run --with a x.py", "x.py", Use.RUN),
        ("find a -exec sh x", "x", Use.RUN),
        ("find a -exec sh {}", "{}", Use.OPEN),
        ("source x", "x", Use.RUN),
        ("jq -f x", "x", Use.RUN),
        ("cat x", "x", Use.TOLD),
        ("/usr/bin/cat x", "x", Use.TOLD),
        ("hooks/cat x", "x", Use.MAY_RUN),
        ("tee -a x", "x", Use.WRITTEN),
        ("cp a x", "x", Use.WRITTEN),
        ("sed -i s/a/b/ x", "x", Use.WRITTEN),
        ("black x", "x", Use.WRITTEN),
        ("git checkout -- x", "x", Use.WRITTEN),
        ("some -o x", "x", Use.WRITTEN),
        ("some --log-file=x", "x", Use.WRITTEN),
        ("python3 x.py a.log", "a.log", Use.TOLD),
        ("some --state .claude/state", ".claude/state", Use.TOLD),
        ("some .claude/log-1.txt", ".claude/log-1.txt", Use.TOLD),
        ("some catalog.txt", "catalog.txt", Use.MAY_RUN),
        ("find a -exec ./x.log", "./x.log", Use.MAY_RUN),
        ("sqlite3 -init a x b", "x", Use.WRITTEN),
        ("sqlite3 -init a x b", "a", Use.MAY_RUN),
        ("flock -w 5 x sh a", "x", Use.WRITTEN),
        ("flock -w 5 x sh a", "a", Use.RUN),
        ("flock x -c text", "text", Use.TEXT),
        ("flock x.sh some", "x.sh", Use.TOLD),
        ("script -qac text x", "text", Use.TEXT),
        ("script -qac text x", "x", Use.WRITTEN),
        ("script -q x sh a", "a", Use.RUN),
        ("dd if=a of=x", "x", Use.WRITTEN),
        ("dd if=a of=x", "a", Use.TOLD),
        ("tar czf x a", "x", Use.WRITTEN),
        ("tar -C a -czf x b", "x", Use.WRITTEN),
        ("tar xf x", "x", Use.MAY_RUN),
        ("zip -r x a", "x", Use.WRITTEN),
        ("zip -TT ./x a", "./x", Use.MAY_RUN),
        ("gzip x", "x", Use.WRITTEN),
        ("gzip -c x", "x", Use.TOLD),
        ("gzip -d x", "x", Use.MAY_RUN),
        ("perl -pi.bak -e code x", "x", Use.WRITTEN),
        ("perl -e code x", "x", Use.MAY_RUN),
        ("node --eval=code", "code", Use.CODE),
        ("cp a.md b", "a.md", Use.TOLD),
        ("cp a.md b", "b/a.md", Use.WRITTEN),
        ("cp a.sh b", "a.sh", Use.MAY_RUN),
        ("ln -s a.md .git/hooks/x", "a.md", Use.MAY_RUN),
        ("cp a.md b.sh", "a.md", Use.MAY_RUN),
        ("rsync -e a.md b.md c", "a.md", Use.MAY_RUN),
        ("rsync -e a.md b.md c", "b.md", Use.TOLD),
        ("find a -newer x", "x", Use.TOLD),
        ("git commit -F x", "x", Use.TOLD),
        ("gh pr create --body-file x", "x", Use.TOLD),
        ("code x", "x", Use.TOLD),
        ("open x.md", "x.md", Use.TOLD),
        ("open x.command", "x.command", Use.MAY_RUN),
        ("tsc -p x.json", "x.json", Use.TOLD),
        ("eslint -c x.json", "x.json", Use.MAY_RUN),
        ("terraform fmt x", "x", Use.WRITTEN),
        ("terraform apply x", "x", Use.MAY_RUN),
        ("mocha -r x a", "x", Use.MAY_RUN),
        ("sh", "", Use.ANYTHING),
        ("xargs sh", "", Use.ANYTHING),
        ("$x", "", Use.ANYTHING),
        ("eval $x", "", Use.ANYTHING),
    ],
)
def test_the_use_of_a_word_is_known(command, word, use):
    assert found(command)[word] is use


@pytest.mark.parametrize(
    "command",
    [
        "test -f x",
        "ruff check x",
        "git diff x",
        "git check-ignore x",
        "pytest -q x",
        "python3 -m pytest -x x",
        "npx vitest run x",
        "bun test x",
        "deno lint x",
        "yarn eslint x",
        "biome check --apply-unsafe x",
        "done",
        "",
    ],
)
def test_of_what_is_only_looked_at_nothing_is_said(command):
    assert "x" not in found(command)


def test_the_program_that_is_run_in_the_end_has_a_name():
    assert program_of(["env", "-i", "A=1", "npx", "-y", "prettier@3", "x"]) == "prettier"
    assert program_of(["uv", "run", "/opt/python3.12", "x"]) == "python3.12"
    assert program_of(["env"]) == program_of([]) == program_of(["hooks/cat"]) == ""


def test_programs_are_of_kinds():
    assert is_data("cat")
    assert not is_data("sh")
    assert is_interpreter("python3.12")
    assert not is_interpreter("pythonic")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import json; print(json.load(open('x')))", False),
        ("require('fs').readFileSync('x')", False),
        ("exec(open('x').read())", True),
        ("require('./x')", True),
        ("os.system(x)", True),
        ("`x`", True),
        ("c.execute('insert'); c.executemany('insert')", False),
        ("os.execute('x')", True),
        ("os.execvp('x', [])", True),
        ("execFileSync('x')", True),
        ("new Deno.Command('x')", True),
        ('do shell script "x"', True),
        ("asyncio.create_subprocess_exec('x')", True),
        ("require('./package.json').version", False),
        ("require('./a.json'); require('./x')", True),
        ("require('fs/promises')", False),
        ('require "hooks/x.pl"', True),
        ("import x from './x.mjs'", True),
    ],
)
def test_code_that_runs_more_is_told_apart(code, expected):
    assert runs_more(code) is expected
