"""Commands hang together as bash and tree-sitter say."""

from __future__ import annotations

import random
import re
import subprocess
from typing import Any

import tree_sitter
import tree_sitter_bash
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.shell.parser import Parser, parse
from agent_hooks.shell.syntax import Bare, For, Function, Group, If, Item, Parameter, Record, Redirect, Sequence, Simple
from agent_hooks.shell.syntax import Test as Condition

ENDS = [";", "\n", " ;\n", "; # c\n"]
WORDS = ["a", "'c d'", "$x", "if", "done", "}", "{", "in", "!", "[[", "time", "a#b", "esac", "$(q r)", "then", "<(h)"]
REDIRECTS = ["", "", "", " >x", " 2>&1", " <y", " &>z 2>|w", " <<<'a b'", " <&-", " {fd}>x"]


SHAPES = [
    "{ %b}",
    "(%l)",
    "{ { %b} }",
    "if %bthen %bfi",
    "if %bthen %belif %bthen %belse %bfi",
    "if (%l) then (%l) fi",
    "while %bdo %bdone",
    "until %bdo %bdone",
    "while { %b} do (%l) done",
    "for x in a $b; do %bdone",
    "for x do %bdone",
    "for x\ndo %bdone",
    "for ((i=0;i<3;i++)); do %bdone",
    "for ((i=0;i<3;i++)) { %b}",
    "select x in a; do %bdone",
    "case $x in esac",
    "case a in (a|b) %l;; *) %l;& 'c d') ;; esac",
    "case in in\nin) %l;;&\nesac",
    "[[ $x == a* && -n $(q) ]]",
    "(( 1 + 2 ))",
]


class Scripts:
    """Makes scripts up, each of a few compound commands."""

    words, redirects, shapes = tuple(WORDS), tuple(REDIRECTS), tuple(SHAPES)
    prefixes: tuple[str, ...] = ("", "", "", "! ", "time ", "time -p ")

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.left = 0

    def script(self) -> str:
        self.left = 4
        return self.commands()

    def commands(self) -> str:
        text = self.pipeline()
        for _ in range(self.random.choice([0, 0, 1, 2])):
            text += self.random.choice([" && ", " || ", "; ", "\n", " & ", "&&\n"]) + self.pipeline()
        return text

    def pipeline(self) -> str:
        prefix = self.random.choice(self.prefixes)
        parts = [self.command() for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
        return prefix + self.random.choice([" | ", "|", " |& ", "|\n"]).join(parts)

    def command(self) -> str:
        if self.left <= 0 or self.random.random() < 0.4:
            name = self.random.choice(["p", "q", "A=1 r", "B+='x y' r", "D=(1 2) p", "["])
            words = self.random.choices(self.words, k=self.random.randint(0, 2))
            return " ".join([name, *words]) + self.random.choice(self.redirects)
        self.left -= 1
        first, *parts = self.random.choice(self.shapes).split("%")
        for part in parts:
            first += self.commands() + (self.random.choice(ENDS) if part[0] == "b" else "") + part[1:]
        return first + self.random.choice(self.redirects)


class EverydayScripts(Scripts):
    """Makes up scripts that tree-sitter's grammar covers."""

    words, redirects, prefixes = ("a", "'c d'", "$x", "$(q r)", "x-y"), ("", "", " >x", " 2>&1", " <y"), ("",)
    shapes = tuple(
        shape for shape in SHAPES if not shape.startswith(("case in", "case a", "select", "for x do", "for x\n"))
    )


def as_bash_prints_it(scripts: list[str]) -> list[str | None]:
    """Each script as bash prints the body of a function: None where bash does not read it. Nothing is run."""
    program = """
        for script in "$@"; do
            printf '\\001'; (eval "f() {\n$script\n}" && declare -f f) 2>/dev/null || printf '\\003'
        done
    """
    output = subprocess.run(
        ["/bin/bash", "-c", program, "bash", *scripts],
        env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout.decode()
    return [None if "\3" in one else one for one in output.split("\1")[1:]]


def meaning(node):
    """A tree without positions, and without what bash spells differently when it prints."""
    if isinstance(node, list | tuple):
        return [meaning(one) for one in node]
    if not isinstance(node, Record):
        return node
    fields: dict[str, Any] = {
        name: meaning(part)
        for name, part in node.by_name().items()
        if name not in ("start", "end", "text") or isinstance(node, Bare)
    }
    match node:
        case Redirect(operator="<&" | ">&", target=[Bare(text="-")]):
            return "closed"
        case Redirect(fd=0 | 1):
            fields["fd"] = None
        case For(words=None):
            fields["words"] = meaning([[Parameter("@", quoted=True)]])
        case If(otherwise=Sequence(items=[Item(node=If(), background=False)])):
            fields["branches"] += fields["otherwise"]["items"][0]["node"]["branches"]
            fields["otherwise"] = fields["otherwise"]["items"][0]["node"]["otherwise"]
        case Condition():
            fields["words"] = str(fields["words"]).replace(" ", "")
    if "redirects" in fields:
        fields["redirects"].sort(key=str)
    return {"kind": type(node).__name__, **fields}


@settings(max_examples=8)
@given(st.integers(min_value=0, max_value=2**32))
def test_a_script_hangs_together_as_bash_says(seed):
    made = Scripts(seed)
    scripts = [made.script() for _ in range(60)]
    printed = as_bash_prints_it(scripts)
    assert sum(one is not None for one in printed) > 40
    for script, canonical in zip(scripts, printed, strict=True):
        if canonical is None:  # bash 5.2 takes no `time` in front of some compound commands in a substitution
            continue
        function = parse(canonical).items[0].node
        assert isinstance(function, Function), canonical
        assert isinstance(function.body, Group)
        assert meaning(parse(script)) == meaning(function.body.body), script


def broken(script: str, seed: int) -> str:
    """Leave out or repeat one token."""
    chance = random.Random(seed)
    tokens = re.findall(r"\s+|[^\s;&|(){}]+|.", script)
    at = chance.randrange(len(tokens))
    tokens[at : at + 1] = chance.choice([[], [tokens[at], chance.choice(tokens)]])
    return "".join(tokens)


def is_grammatical(script: str) -> bool:
    """Ask bash."""
    command = ["/bin/bash", "-n", "-c", script]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def test_broken_scripts_are_refused_as_bash_refuses_them():
    scripts = [broken(Scripts(seed).script(), seed) for seed in range(200)]
    differ = [each for each in scripts if is_grammatical(each) is ("Unreadable" in repr(parse(each)))]
    assert len(differ) <= 10, differ  # `bash -n` does not look into arithmetic, and is lenient with `time` and `[[`


GRAMMAR = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def programs_by_tree_sitter(text: str) -> list[str] | None:
    """Return the names of the commands, None where the grammar does not cover the text."""
    waiting = [GRAMMAR.parse(text.encode()).root_node]
    if waiting[0].has_error:
        return None
    names = []
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type == "command_name":
            names.append((node.text or b"").decode())
    return sorted(names)


def test_the_programs_are_those_that_tree_sitter_finds():
    compared = 0
    for seed in range(150):
        script = EverydayScripts(seed).script()
        expected = programs_by_tree_sitter(script)
        if expected is not None:
            parser = Parser(script)
            parser.commands("")
            assert sorted(node.raw[0] for node in parser.found if isinstance(node, Simple)) == expected, script
            compared += 1
    assert compared > 25


def test_compound_commands_know_where_they_stand():
    text = "x; { a; } >y; (b)"
    assert [text[item.node.start : item.node.end] for item in parse(text).items] == ["x", "{ a; } >y", "(b)"]
