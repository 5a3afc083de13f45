"""What a code is given by who runs it: its arguments, variables of the environment, its input.

They are written in front of it, as the assignments that its interpreter makes before the first line.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import Data
from agent_hooks_guards.programs.credentials import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .state import State

_MOST = 64


def with_given(language: str, code: Data, arguments: list[str], state: State, stdin: Data | None) -> Data:
    """Return the code with what it is given in front of it, as far as it is known and the code names it."""
    write = _LANGUAGES.get(language)
    if write is None or not code.is_known:
        return code
    text = code.text
    names = [name for name in state.variables if name in text][:_MOST]
    # A secret is not known, but where it comes from.
    known = {name: value for name in names if (value := state.value(name)).is_known or private(value.labels)}
    line = stdin.text.rstrip("\n") if stdin is not None and stdin.is_known else None
    made = write(
        text, [word for word in arguments if word][:_MOST], {name: each.text for name, each in known.items()}, line
    )
    if not made:
        return code
    return Data(made + text, code.labels.union(*(each.labels for each in known.values())))


def _perl(text: str, _arguments: list[str], variables: dict[str, str], line: str | None) -> str:
    made = _each("$ENV{{{}}} = {};\n", variables) if "$ENV" in text else ""
    return made + (f"$_ = {literal(line)};\n" if line is not None and "$_" in text else "")


def _ruby(text: str, arguments: list[str], variables: dict[str, str], line: str | None) -> str:
    made = ""
    if "ENV" in text and variables:
        pairs = (f"{literal(name)} => {literal(value)}" for name, value in variables.items())
        made = f"ENV = {{{', '.join(pairs)}}};\n"
    if "ARGV" in text and arguments:
        made += f"ARGV = [{', '.join(map(literal, arguments))}];\n"
    return made + (f"$_ = {literal(line)};\n" if line is not None and "$_" in text else "")


def _node(text: str, arguments: list[str], variables: dict[str, str], _line: str | None) -> str:
    made = _each("process.env[{}] = {};\n", variables) if "env" in text else ""
    if "argv" in text and arguments:
        made += f"process.argv = [{', '.join(map(literal, ['node', *arguments]))}];\n"
    return made


def _php(text: str, arguments: list[str], _variables: dict[str, str], _line: str | None) -> str:
    if "$argv" not in text or not arguments:
        return ""
    made = f"$argv = [{', '.join(map(literal, ['-', *arguments]))}];\n"
    return made if not text.lstrip().startswith("<?") else f"<?php {made} ?>"


_LANGUAGES: dict[str, Callable[[str, list[str], dict[str, str], str | None], str]] = {
    "perl": _perl,
    "ruby": _ruby,
    "node": _node,
    "php": _php,
}


def _each(assignment: str, variables: dict[str, str]) -> str:
    # One by one: the other variables of the environment stay what they are.
    return "".join(assignment.format(literal(name), literal(value)) for name, value in variables.items())


def literal(text: str) -> str:
    """A text in single quotes, as all of these languages read them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
