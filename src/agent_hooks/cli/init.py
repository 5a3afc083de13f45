"""``agent-hooks init``: write a rule and the cases that show it, and say what to type next."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from dataclasses import dataclass
from functools import partial

import importlib_metadata

from agent_hooks.engine.markers import PROJECT
from agent_hooks.sources.files import FILE, HOOKCONF
from agent_hooks.system.folders import config_dir
from agent_hooks.system.visible import visible

_FORM = "write a program, its subcommand and options, as in 'git push --force'"
_DEFAULT = ("git push", "Pushing is for people.")
# Of a shell; whoever types one means more than a program.
_NOT_IN_WORDS = frozenset("|&;<>$`*?(){}'\"\\\n")


class _NotWrittenError(Exception):
    """What stands in the way, for people."""


@dataclass
class _Rule:
    """A rule that denies ``command``: its words without options are the program and the subcommand."""

    command: str
    reason: str

    def __post_init__(self) -> None:
        self.words = [] if _NOT_IN_WORDS.intersection(self.command) else self.command.split()
        self.flags = [word for word in self.words if word[0] in "-+"]
        self.names = [word for word in self.words if word not in self.flags]
        if not self.words or self.words[0] in self.flags or "/" in self.words[0]:
            raise _NotWrittenError(f"--deny {visible(self.command)!r}: {_FORM}")

    @property
    def in_toml(self) -> str:
        """The rule as the guards read it."""
        program, *subcommand = self.names
        keys = {"program": [program], "subcommand": [" ".join(subcommand)] if subcommand else [], "flags": self.flags}
        lines = [f"{key} = {_quoted(value)}" for key, value in {**keys, "reason": self.reason}.items() if value]
        return "\n".join(["[[guards.rules]]", *lines, ""])

    @property
    def in_python(self) -> str:
        """The rule as a hook."""
        words = ", ".join(map(_quoted, self.names)) + (f", flags={_quoted(self.flags)}" if self.flags else "")
        return (
            "from agent_hooks import HookOutcome, hookimpl\n\n\n"
            '@hookimpl(match="shell")\n'
            "def before_tool_use(tool_call):\n"
            f"    if tool_call.may_run({words}):\n"
            f"        return HookOutcome.deny({_quoted(self.reason)})\n"
        )

    @property
    def cases(self) -> str:
        """The command, a disguise of it, and text that only mentions it."""
        quoted = shlex.quote(command := shlex.join(self.words))
        decided = {command: "deny", f"sh -c {quoted}": "deny", f"echo {quoted}": "proceed"}
        head = '[[case]]\nevent = "before_tool_use"\ntool = "Bash"\n'
        return "\n".join(
            f'{head}arg.command = {_quoted(each)}\nexpect = "{decision}"\n' for each, decision in decided.items()
        )


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def write_rules(commands: tuple[str, ...], reason: str, *, python: bool, user: bool) -> int:
    """Write rules that deny ``commands``, by default one, in the current folder or as the user's own.

    They are added to an agent-hooks.toml that is there if ``commands`` are given; every other file with rules stays as
    it is. Returns 0, or 1 after saying what stands in the way.
    """
    folder = config_dir() if user else os.getcwd()
    # Without the guards, nothing reads their tables.
    python = python or not importlib_metadata.entry_points(group=PROJECT, name="guards")
    path, cases = os.path.join(folder, HOOKCONF if python else FILE), os.path.join(folder, "cases.toml")
    try:
        default_reason = "Agents do not run `{}` here." if commands else _DEFAULT[1]
        rules = [_Rule(each, reason or default_reason.format(each)) for each in commands or _DEFAULT[:1]]
        if python and len(rules) > 1:
            raise _NotWrittenError(f"{HOOKCONF} is begun with one rule: give --deny once")
        text = "\n".join(rule.in_python if python else rule.in_toml for rule in rules)
        parts = [
            (path, _fitted(path, text, is_new=python or not commands)),
            (cases, _fitted(cases, "\n".join(rule.cases for rule in rules))),
        ]
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for name, part in parts:
            # Nobody else may write a file that is run without a trust.
            with open(name, "a", encoding="utf-8", opener=partial(os.open, mode=0o644)) as file:
                file.write(part)
    except OSError as error:
        print(f"agent-hooks: {visible(error.filename or folder)} cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    except _NotWrittenError as error:
        print(f"agent-hooks: {error}.", file=sys.stderr)
        return 1
    print(f"Written: {visible(path)}\nWritten: {visible(cases)}")
    print(f"Agents may not run {', '.join(f'`{visible(rule.command)}`' for rule in rules)}. Type next:")
    if not user:
        print("  agent-hooks trust")
    print(f"  agent-hooks check --cases {shlex.quote(visible(cases)) if user else os.path.basename(cases)}")
    return 0


def _fitted(path: str, text: str, *, is_new: bool = False) -> str:
    """Return the text to append to a file. Raises ``_NotWrittenError`` where it does not fit or a file is to be new."""
    try:
        with open(path, "rb") as file:
            there = file.read()
    except FileNotFoundError:
        return text
    if is_new:
        hint = "" if path.endswith(HOOKCONF) else "; `agent-hooks init --deny COMMAND` adds a rule to it"
        raise _NotWrittenError(f"{visible(path)} is there already, and stays as it is{hint}")
    added = ("\n" if there.endswith(b"\n") or not there else "\n\n") + text
    try:
        tomllib.loads(there.decode() + added)
    except ValueError as error:
        raise _NotWrittenError(f"{visible(path)} stays as it is, this does not fit: {visible(str(error))}") from None
    return added
