"""Cmdlets and members of .NET as text for a Unix shell, by the tables in ``powershell.toml``."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .shell_text import ITEM, either, program_name, quote, unknown

if TYPE_CHECKING:
    from collections.abc import Collection

_CMDLET = re.compile(r"([a-z]+)-[a-z][a-z0-9]*\Z")


class Word:
    """A word of a shell. ``code``: as text for a shell; ``text``: its value, None if that is not known.

    ``parameter``: its name, if it is one, ``has_value``: then this word is its value, as in ``-Path:x``. ``block``: the
    translated code of a script block, ``source``: its text. ``is_list``: several words.
    """

    def __init__(
        self,
        code: str,
        text: str | None = None,
        *,
        parameter: str = "",
        has_value: bool = False,
        block: str | None = None,
        source: str = "",
        is_list: bool = False,
    ) -> None:
        self.code = code
        self.text = text
        self.parameter = parameter
        self.has_value = has_value
        self.block = block
        self.source = source
        self.is_list = is_list


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


def translate_cmdlet(name: Word, words: list[Word], piped: str, functions: Collection[str]) -> tuple[str, str]:
    """Return the command ``name`` with its arguments behind the pipeline ``piped``, and a problem with it, or ""."""
    behind = f"{piped} | " if piped else ""
    if name.block is not None:
        return f"{behind}{{ {name.block or ':'}; }}", ""
    if name.text is None:
        return " ".join((behind + name.code, *(each.code for each in words))), ""
    given = name.text.lower()
    if given in functions:  # its body is translated where it is defined
        return f"{behind}: {' '.join(each.code for each in words)}", ""
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
        body = code or f": {unknown(values)}"
        return f"{behind}while read -r {ITEM}; do {body}; done"
    if cmdlet in ("invoke-command", "start-job"):
        if any(
            "computername".startswith(each.parameter) or each.parameter == "session" for each in words if each.parameter
        ):
            return f"{behind}ssh remote pwsh -Command {quote('; '.join(each.source for each in blocks))}"
        return f"{behind}{{ {code or ':'}; }}" if blocks else None
    if cmdlet in listed("filters"):
        return f"{behind}{{ {code + ' >&2; ' if code else ''}cat; }}" if piped else f"printf '%s\\n' {values}"
    if cmdlet in listed("printing"):
        return f"{behind}printf '%s\\n' {values}"
    if cmdlet in listed("reading") or f"{cmdlet.partition('-')[0]}-*" in listed("reading"):
        return f"{behind}{{ {code + ';' if code else ''} printf '%s\\n' {unknown(values.replace(' ', UNKNOWN))}; }}"
    return None


def _bind(entry: dict[str, Any], words: list[Word]) -> dict[str, Word] | None:
    """Return the arguments by parameter, those without one under "*"; None if the cmdlet has no such parameter."""
    common, flags = table("common"), entry.get("flags", {})
    operands = entry["operands"].split()
    values = (*operands, *entry.get("options", ()), *f"{entry.get('values', '')} {common['values']}".split())
    names = (*values, *flags, *f"{entry.get('switches', '')} {common['switches']}".split())
    bound: dict[str, Word] = {}
    free: list[Word] = []
    waiting = ""
    for word in words:
        given = word.parameter
        if not given:
            if waiting:
                bound[waiting], waiting = word, ""
            else:
                free.append(word)
            continue
        full = given if given in names else next((each for each in names if each.startswith(given)), "")
        if not full and not "literalpath".startswith(given):
            return None
        full = full or operands[0]
        if full in values and not word.has_value:
            waiting = full
        else:
            bound[full] = word
    for name in operands:
        if free and name not in bound:
            bound[name] = free.pop(0)
    if free:
        bound["*"] = word_list(free)
    return bound


def _translate_entry(cmdlet: str, entry: dict[str, Any], bound: dict[str, Word], piped: str) -> str:
    """Translate a cmdlet with its ``bound`` arguments by its ``entry``."""
    if cmdlet == "get-childitem":
        return _list_files(bound)
    runs, options, flags = entry["runs"], entry.get("options", {}), entry.get("flags", {})
    if cmdlet == "new-item" and "dir" in bound.get("itemtype", Word("")).code.lower():
        runs = "mkdir -p"
    if cmdlet == "start-process":
        runs = "sudo" if "runas" in bound.get("verb", Word("")).code.lower() else ""
        # One string is a command line, and a program is named by its path.
        for name, split in (("argumentlist", str.split), ("filepath", lambda text: [program_name(text)])):
            if (word := bound.get(name)) is not None and word.text is not None:
                bound[name] = Word(" ".join(map(quote, split(word.text))))
    if (given := bound.pop(entry.get("input", ""), None)) is not None:
        piped = f"printf '%s\\n' {given.code}"
    parts = [runs, *(flags[name] for name in bound if name in flags)]
    parts += [f"{option} {bound[name].code}" for name, option in options.items() if name in bound]
    operands = [bound[name].code for name in (*entry["operands"].split(), "*") if name in bound and name not in options]
    if piped and entry.get("items") and not operands:
        return (
            f"{piped} | {runs} -" if cmdlet == "invoke-expression" else " ".join((f"{piped} | xargs -d '\\n'", *parts))
        )
    return " ".join(each for each in (f"{piped} |" if piped else "", *parts, *operands) if each)


def _list_files(bound: dict[str, Word]) -> str:
    """Translate ``Get-ChildItem``."""
    folder = bound.get("path", Word(".", "."))
    if (folder.text or "").lower().startswith("env:"):
        return "env"
    code = f"find {folder.code}" + ("" if "recurse" in bound else " -maxdepth 1")
    names = bound.get("include", bound.get("filter", Word(""))).code.split()
    return f"{{ {'; '.join(f'{code} -name {name}' for name in names) or code}; }}"


def translate_member(kind: str, name: str, owner: Word, arguments: list[Word] | None) -> tuple[Word, str]:
    """Return the value of a member of ``owner``, or of the type ``kind``, and a problem with it, or "".

    ``arguments``: None for a property.
    """
    if arguments is None:
        return owner if name in ("content", "fullname", "value") else Word(unknown(owner.code)), ""
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
    value = Word(unknown(owner.code, *codes))
    if name in listed("methods") or kind in listed("types"):
        return value, ""
    return value, f".{name}() is not understood"
