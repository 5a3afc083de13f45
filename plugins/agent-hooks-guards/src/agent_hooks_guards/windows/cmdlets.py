"""Cmdlets and members of .NET as text for a Unix shell, by the tables in ``powershell.toml``."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any, NamedTuple

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .shell_text import ITEM, either, program_name, quote

_CMDLET = re.compile(r"([a-z]+)-[a-z][a-z0-9]*\Z")


class Word(NamedTuple):
    """A word of a shell. ``code``: as text for a shell; ``text``: its value, None if that is not known.

    ``parameter``: its name, if it is one, ``has_value``: then this word is its value, as in ``-Path:x``. ``block``: the
    translated code of a script block, ``source``: its text. ``is_list``: several words.
    """

    code: str
    text: str | None = None
    parameter: str = ""
    has_value: bool = False
    block: str | None = None
    source: str = ""
    is_list: bool = False


def word_list(words: list[Word]) -> Word:
    """Return ``words`` as one: the only one, or a list."""
    return words[0] if len(words) == 1 else Word(" ".join(each.code for each in words), is_list=True)


def table(key: str) -> Any:
    """Return a table of ``powershell.toml``."""
    return load_tables(os.path.dirname(os.path.abspath(__file__)))["powershell"][key]


@cache
def listed(key: str) -> frozenset[str]:
    """Return the names in a list of ``powershell.toml``."""
    return frozenset(table(key).split())


@cache
def _aliases() -> dict[str, str]:
    return {alias: cmdlet for cmdlet, names in table("aliases").items() for alias in names.split()}


def translate_cmdlet(name: Word, words: list[Word], piped: str) -> tuple[str, str]:
    """Return the command ``name`` with its arguments behind the pipeline ``piped``, and a problem with it, or ""."""
    behind = f"{piped} | " if piped else ""
    if name.block is not None:
        return f"{behind}{{ {name.block or ':'}; }}", ""
    if name.text is None:
        return " ".join((behind + name.code, *(each.code for each in words))), ""
    given = name.text.lower()
    cmdlet = given.rpartition("\\")[2]
    cmdlet = _aliases().get(cmdlet, cmdlet) if cmdlet == given or _CMDLET.match(cmdlet) else given
    entry = table("cmdlets").get(cmdlet)
    if any(each.parameter == "whatif" for each in words) and _CMDLET.match(cmdlet):
        return "", ""
    if entry is not None and (bound := _bind(entry, words)) is not None:
        return _translate_entry(cmdlet, entry, bound, piped), ""
    if entry is not None and cmdlet != given:  # not a parameter of the cmdlet: the Unix program of that name
        cmdlet = given
    blocks = [each for each in words if each.block is not None]
    code = _translate_known(cmdlet, words, blocks, piped)
    if code is not None:
        return code, ""
    verb = _CMDLET.match(cmdlet)
    is_changing = verb is not None and verb[1] in listed("verbs") and cmdlet not in listed("judged")
    problem = f"{name.text} is not understood" if is_changing else ""
    program = quote(cmdlet if verb else program_name(name.text))
    if program.endswith(".ps1'"):
        program = f"pwsh -File {program}"
    # `pwsh -c {…}` takes the source of a block; any other program may run the block.
    arguments = (each.code if each.block is None else quote(each.source) for each in words)
    code = " ".join((behind + program, *arguments))
    return "; ".join((code, *(either(each.block or "") for each in blocks))), problem


def _translate_known(cmdlet: str, words: list[Word], blocks: list[Word], piped: str) -> str | None:
    """Translate a cmdlet that has no entry of its own; None if it is not known."""
    behind = f"{piped} | " if piped else ""
    values = " ".join(each.code for each in words if each.block is None and not each.parameter)
    code = "; ".join(each.block or ":" for each in blocks)
    if cmdlet == "foreach-object":
        body = code or f": {UNKNOWN}{values}"
        return f"{behind}while read -r {ITEM}; do {body}; done"
    if cmdlet in ("invoke-command", "start-job"):
        return f"{behind}{{ {code or ':'}; }}" if blocks else None
    if cmdlet in listed("filters"):
        return f"{behind}{{ {code + ' >&2; ' if code else ''}cat; }}" if piped else f"printf '%s\\n' {values}"
    if cmdlet in listed("printing"):
        return f"{behind}printf '%s\\n' {values}"
    if cmdlet in listed("reading") or f"{cmdlet.partition('-')[0]}-*" in listed("reading"):
        return f"{behind}{{ {code + ';' if code else ''} printf '%s\\n' {UNKNOWN}{values.replace(' ', UNKNOWN)}; }}"
    return None


def _bind(entry: dict[str, Any], words: list[Word]) -> dict[str, Word] | None:
    """Return the arguments by parameter, those without one under "*"; None if the cmdlet has no such parameter."""
    common, flags, operands = table("common"), entry.get("flags", {}), entry["operands"].split()
    values = (*operands, *entry.get("options", ()), *f"{entry.get('values', '')} {common['values']}".split())
    names = (*values, *flags, *f"{entry.get('switches', '')} {common['switches']} literalpath".split())
    bound: dict[str, Word] = {}
    free: list[Word] = []
    waiting = ""
    for word in words:
        if not word.parameter and not waiting:
            free.append(word)
            continue
        # A parameter may be cut short.
        given = word.parameter
        name = min((each for each in names if each.startswith(given)), key=len, default="") if given else waiting
        name = operands[0] if name == "literalpath" else name
        if not name:
            return None
        waiting = name if given and name in values and not word.has_value else ""
        bound[name] = word
    for name in operands:
        if free and name not in bound:
            bound[name] = free.pop(0)
    return {**bound, "*": word_list(free)} if free else bound


def _translate_entry(cmdlet: str, entry: dict[str, Any], bound: dict[str, Word], piped: str) -> str:
    """Translate a cmdlet with its ``bound`` arguments by its ``entry``."""
    runs, options, flags = entry["runs"], entry.get("options", {}), entry.get("flags", {})
    if cmdlet == "get-childitem" and (bound.get("path", Word("")).text or "").lower().startswith("env:"):
        return "env"
    if cmdlet == "start-process":
        runs = "sudo" if "runas" in bound.get("verb", Word("")).code.lower() else ""
        # One string is a command line, and a program is named by its path.
        for name, split in (("argumentlist", str.split), ("filepath", lambda text: [program_name(text)])):
            if (word := bound.get(name)) is not None and word.text is not None:
                bound[name] = Word(" ".join(map(quote, split(word.text))))
    if (given := bound.pop(entry.get("input", ""), None)) is not None:
        piped = f"printf '%s\\n' {given.code}"
    operands = [bound[name].code for name in (*entry["operands"].split(), "*") if name in bound and name not in options]
    parts = [runs, *(flags[name] for name in bound if name in flags), *operands]
    parts += [f"{option} {bound[name].code}" for name, option in options.items() if name in bound]
    if piped and entry.get("items") and not operands:
        return f"{piped} | {runs} -" if cmdlet == "invoke-expression" else f"{piped} | xargs -d '\\n' {' '.join(parts)}"
    return " ".join(each for each in (f"{piped} |" if piped else "", *parts) if each)


def translate_member(kind: str, name: str, owner: Word, arguments: list[Word]) -> tuple[Word, str]:
    """Return the value of a method of ``owner``, or of the type ``kind``, and a problem with it, or ""."""
    codes = [each.code for each in arguments]
    if name in listed("downloads"):
        return Word(f'"$(curl {" ".join(codes[:1])})"'), ""
    if name == "downloadfile" and len(codes) > 1:
        return Word(f'"$(curl -o {codes[1]} {codes[0]})"'), ""
    if name == "frombase64string" and codes:
        return Word(f'"$(printf %s {codes[0]} | base64 -d)"'), ""
    if name == "getenvironmentvariable" and codes and (arguments[0].text or "").isidentifier():
        return Word(f'"${{{str(arguments[0].text).upper()}}}"'), ""
    if kind == "scriptblock" and codes:
        return Word(f'"$(pwsh -Command {codes[0]})"'), ""
    if name in listed("same") and codes:
        return arguments[0], ""
    value = Word(UNKNOWN + owner.code + "".join(codes))
    if name in listed("methods") or kind in listed("types"):
        return value, ""
    return value, f".{name}() is not understood"
