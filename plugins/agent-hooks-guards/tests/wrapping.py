"""What a command runs, as one line of text, for tables of cases."""

from __future__ import annotations

import shlex

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.values import UNKNOWN, Data
from agent_hooks_guards.programs.inner import inner


def command(text, stdin=None, cwd="/work"):
    """A command from its words; ``…`` stands for what is not known, ``NAME=value`` in front for a variable."""
    argv = shlex.split(text.replace("…", UNKNOWN))
    assignments = {}
    while "=" in argv[0]:
        name, _, value = argv.pop(0).partition("=")
        assignments[name] = Data(value)
    data = None if stdin is None else Data(stdin.replace("…", UNKNOWN))
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
    return (f"[{', '.join(tags)}] " if tags else "") + shown.replace(UNKNOWN, "…").replace("\n", "\\n")


def cases(text):
    """The lines of a table, ``command => what it runs``, in pairs."""
    return [line.partition(" => ")[::2] for line in text.strip().splitlines()]
