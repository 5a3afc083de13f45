"""Cmdlets and members of .NET as text for a Unix shell, by the tables in ``powershell.toml``."""

from __future__ import annotations

import os
from typing import Any

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.tables import by_name, load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .shell_text import ITEM, Word, either, program_name, quote

TABLES: dict[str, Any] = load_tables(os.path.dirname(os.path.abspath(__file__)))["powershell"]
_LISTS = {key: frozenset(names.split()) for key, names in TABLES.items() if isinstance(names, str)}
_ALIASES = by_name(TABLES["aliases"])
_MEMBERS = by_name(TABLES["members"])
_CMDLET = Pattern(r"([a-z]+)-[a-z][a-z0-9]*\Z")


def word_list(words: list[Word]) -> Word:
    """Return ``words`` as one: the only one, or a list."""
    return words[0] if len(words) == 1 else Word(" ".join(each.code for each in words), is_list=True)


def translate_cmdlet(name: Word, words: list[Word], piped: str) -> tuple[str, str]:
    """Return the command ``name`` with its arguments behind the pipeline ``piped``, and a problem with it, or ""."""
    behind = f"{piped} | " if piped else ""
    if name.block is not None:
        return f"{behind}{{ {name.block or ':'}; }}", ""
    if name.text is None:
        return " ".join((behind + name.code, *(each.code for each in words))), ""
    given = name.text.lower()
    cmdlet = given.rpartition("\\")[2]
    cmdlet = _ALIASES.get(cmdlet, cmdlet) if cmdlet == given or _CMDLET.match(cmdlet) else given
    entry, verb = TABLES["cmdlets"].get(cmdlet), _CMDLET.match(cmdlet)
    if verb and any(each.parameter == "whatif" and each.source in ("", ":$true") for each in words):
        return "", ""
    if entry is not None and (bound := _bind(entry, words)) is not None:
        return _translate_entry(cmdlet, entry, bound, piped), ""
    if entry is not None and cmdlet != given:  # not a parameter of the cmdlet: the Unix program of that name
        cmdlet, verb = given, None
    blocks = [each.block for each in words if each.block is not None]
    if (code := _translate_known(cmdlet, words, blocks, behind)) is not None:
        return code, ""
    is_changing = verb is not None and verb[1] in _LISTS["verbs"] and cmdlet not in _LISTS["judged"]
    program = quote(cmdlet if verb else program_name(name.text))
    if program.endswith(".ps1'"):
        program = f"pwsh -File {program}"
    # `pwsh -c {…}` takes the source of a block; any other program may run the block.
    arguments = (each.code if each.block is None else quote(each.source) for each in words)
    code = "; ".join((" ".join((behind + program, *arguments)), *map(either, blocks)))
    return code, f"{name.text} is not understood" if is_changing else ""


def _translate_known(cmdlet: str, words: list[Word], blocks: list[str], behind: str) -> str | None:
    """Translate a cmdlet that has no entry of its own; None if it is not known."""
    values = " ".join(each.code for each in words if each.block is None and not each.parameter)
    code = "; ".join(each or ":" for each in blocks)
    if cmdlet == "foreach-object":
        return f"{behind}while read -r {ITEM}; do {code or f': {UNKNOWN}{values}'}; done"
    if cmdlet in ("invoke-command", "start-job"):
        return f"{behind}{{ {code}; }}" if blocks else None
    if behind and cmdlet in _LISTS["filters"]:
        return f"{behind}{{ {code + ' >&2; ' if code else ''}cat; }}"
    if cmdlet in _LISTS["filters"] | _LISTS["printing"]:
        return f"{behind}printf '%s\\n' {values}"
    if cmdlet in _LISTS["reading"] or f"{cmdlet.partition('-')[0]}-*" in _LISTS["reading"]:
        return f"{behind}{{ {code + ';' if code else ''} printf '%s\\n' {UNKNOWN}{values.replace(' ', UNKNOWN)}; }}"
    return None


def _bind(entry: dict[str, Any], words: list[Word]) -> dict[str, Word] | None:
    """Return the arguments by parameter, those without one under "*"; None if the cmdlet has no such parameter."""
    common, flags, operands = TABLES["common"], entry.get("flags", {}), entry["operands"].split()
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
        waiting = name if given and name in values else ""
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
        return " ".join((piped, "|", entry["piped"]) if "piped" in entry else (piped, "| xargs -d '\\n'", *parts))
    return " ".join(each for each in (f"{piped} |" if piped else "", *parts) if each)


def translate_member(kind: str, name: str, owner: Word, arguments: list[Word]) -> tuple[Word, str]:
    """Return the value of a method of ``owner``, or of the type ``kind``, and a problem with it, or ""."""
    codes = [each.code for each in arguments]
    template = _MEMBERS.get("scriptblock" if kind == "scriptblock" else name)
    if template and len(codes) >= template.count("{"):
        return Word(f'"$({template.format(*codes)})"'), ""
    if name == "getenvironmentvariable" and codes and (arguments[0].text or "").isidentifier():
        return Word(f'"${{{str(arguments[0].text).upper()}}}"'), ""
    if name in _LISTS["same"] and codes:
        return arguments[0], ""
    is_known = name in _LISTS["methods"] or kind in _LISTS["types"]
    return Word(UNKNOWN + owner.code + "".join(codes)), "" if is_known else f".{name}() is not understood"
