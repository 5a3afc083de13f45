"""What a command runs besides itself: behind wrappers, in shells, interpreters, tools and containers."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks_guards import ShellGuard
from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import NETWORK, SECRET, UNKNOWN, Data
from agent_hooks_guards.places.paths import Place
from agent_hooks_guards.programs.inner import inner
from tables import tables

# One row a line, ``command => what it runs``, in a table for each sort of programs.
CASES = [row.split(" => ", 1) for table in tables(__file__).values() for row in table.splitlines()]


def command(text, stdin=None, cwd="/work"):
    """A command from its words; ``NAME=value`` in front stands for a variable."""
    argv = shlex.split(text)
    assignments = {}
    while "=" in argv[0]:
        name, _, value = argv.pop(0).partition("=")
        assignments[name] = Data(value)
    data = None if stdin is None else Data(stdin)
    return Command(argv[0].rpartition("/")[2], argv, assignments=assignments, stdin=data, cwd=cwd)


def inside(text):
    """What the command in ``text`` runs, ``input |> command`` with an input: ``words``, ``language{code}``,
    ``language<file``, ``language<-`` for its input, with what changes in brackets, ``;;`` between, or ``nothing``.
    """
    stdin, given, words = text.rpartition(" |> ")
    outer = command(words, stdin.encode().decode("unicode_escape") if given else None)
    return " ;; ".join([_shown(each) for each in inner(outer)]) or "nothing"


def _shown(each):
    tags = [tag for tag in (each.host, "root" if each.root else None) if tag]
    tags += ["here"] if each.host == "" else []
    tags += ["no-env"] if each.clears_environment else []
    tags += [f"in {each.cwd}"] if each.cwd is not None else []
    tags += [f"{name}={data.text}" for name, data in each.assignments.items()]
    if each.argv is not None:
        shown = shlex.join(each.argv)
    elif each.code is not None:
        shown = f"{each.language}{{{each.code.text}}}"
    else:
        shown = f"{each.language}<{each.path or '-'}"
    if each.arguments:
        shown += f" {each.arguments}"
    return (f"[{', '.join(tags)}] " if tags else "") + shown.replace("\n", "\\n")


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_what_a_command_runs_besides_itself(text, expected):
    assert inside(text) == expected


def labelled(words, at, label):
    return Command(words[0], words, {at: frozenset((label,))})


def test_words_of_the_inner_command_keep_their_labels():
    (found,) = inner(labelled(["sudo", "-u", "x", "rm", "f"], 4, SECRET))
    assert found.argv == ["rm", "f"]
    assert found.labels == {1: {SECRET}}
    assert found.label == "sudo"


def test_a_code_keeps_where_it_comes_from():
    (found,) = inner(labelled(["bash", "-c", "x"], 2, NETWORK))
    assert found.code == Data("x", frozenset((NETWORK,)))
    (found,) = inner(labelled(["eval", "a", "b"], 2, NETWORK))
    assert found.code == Data("a b", frozenset((NETWORK,)))


def test_items_that_xargs_appends_keep_where_they_come_from():
    outer = Command("xargs", ["xargs", "rm", "-rf"], stdin=Data("a b", frozenset((NETWORK,))))
    (found,) = inner(outer)
    assert found.argv == ["rm", "-rf", "a", "b"]
    assert found.labels == {2: frozenset((NETWORK,)), 3: frozenset((NETWORK,))}


def test_more_items_than_are_looked_at_end_in_one_that_may_be_anything():
    outer = Command("xargs", ["xargs", "-n1", "rm"], stdin=Data(" ".join(map(str, range(1000)))))
    found = inner(outer)
    assert len(found) == 17
    assert found[-1].argv == ["rm", UNKNOWN]


def test_a_program_that_is_called_by_another_name_is_the_same():
    assert inside("gsudo rm x") == "nothing"
    assert inside("SUDO.EXE rm x") == "[root] rm x"
    assert inside("/usr/bin/python3.12 -c x") == "python{x} ['-c']"
    assert inside("gxargs -a f rm") == f"rm '{UNKNOWN}'"


def test_numbers_of_runs_of_parallel_are_bounded():
    items = " ".join(f"i{at}" for at in range(500))
    assert len(inner(command(f"parallel rm ::: {items}"))) == 17


ODD_WORDS = [
    *r"- -- -c -e -x {} ; + -I -n1 ::: :::: exec run a=b -S -m -o ProxyCommand=x pdb timeit commands=[ !x @x".split(),
    *r"ssh -f -t alias.x=!y -v/:/x send-keys stuff \; %pipe% --bind ' \ -z shell $( ${ --eval env +! ext::".split(),
    *r"CMD BATCH artisan tinker --execute 1 eval --x= =".split(),
    *("", '"', UNKNOWN, f"-{UNKNOWN}"),
]
PROGRAMS = sorted({path.partition(" ")[0] for path in declarations().entries})
WORDS = st.one_of(
    st.sampled_from(ODD_WORDS),
    st.text(max_size=8),
)


@settings(max_examples=300)
@given(st.sampled_from(PROGRAMS), st.lists(WORDS, max_size=8), st.none() | st.text(max_size=30))
def test_any_words_can_be_asked_about(program, words, stdin):
    argv = [program, *words]
    data = None if stdin is None else Data(stdin)
    for each in inner(Command(program, argv, stdin=data, cwd="/work")):
        assert each.argv or each.language


def test_a_very_long_command_is_bounded():
    assert len(inner(Command("find", ["find", *(["/x"] * 5000), "-exec", "rm", "{}", ";"]))) == 16
    assert inner(Command("sudo", ["sudo", *(["-E"] * 50_000), "rm"]))[0].argv == ["rm"]
    assert len(inner(Command("xargs", ["xargs", "rm"], stdin=Data("a " * 200_000)))[0].argv or []) < 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry sh -c 'rm x'", "sh -c 'rm x'"),
        ("nothing-known -n 3 -- /bin/bash -lc 'rm x'", "/bin/bash -lc 'rm x'"),
        ("echo sh -c 'rm x'", "nothing"),
        ("type sh -c 'rm x'", "nothing"),
        ("nothing-known sh", "nothing"),
        ("nothing-known sh --abc x", "nothing"),
    ],
)
def test_a_shell_with_a_text_runs_behind_a_program_that_nothing_is_known_of(text, expected):
    assert inside(text) == expected


def test_many_variables_that_name_programs_are_not_combined():
    names = "PAGER GIT_PAGER EDITOR VISUAL BROWSER MANPAGER SHELL CC CXX LD".split()
    exported = " ".join(f"{name}=tool{at}" for at, name in enumerate(names))
    assert ShellGuard().decide(f"export {exported}; git log", Place("/w", "/home/dev", "/w"), "sh") == []
