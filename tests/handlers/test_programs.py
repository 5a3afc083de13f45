"""What becomes of the words of well-known programs."""

from __future__ import annotations

import pytest

from agent_hooks.handlers.programs import Use, is_data, is_interpreter, program_of, runs_more, uses


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
        ("sh", "", Use.ANYTHING),
        ("xargs sh", "", Use.ANYTHING),
        ("$x", "", Use.ANYTHING),
        ("eval $x", "", Use.ANYTHING),
    ],
)
def test_the_use_of_a_word_is_known(command, word, use):
    assert found(command)[word] is use


@pytest.mark.parametrize("command", ["test -f x", "ruff check x", "git diff x", ""])
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
    ],
)
def test_code_that_runs_more_is_told_apart(code, expected):
    assert runs_more(code) is expected
