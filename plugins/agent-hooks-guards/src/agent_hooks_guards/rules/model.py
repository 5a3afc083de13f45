"""The schema of rules about commands: families in TOML, and rules in settings files.

A rule is about an action of ``model.actions``: a program that is run, an effect outside of it, or a doubt. In a text,
``*`` stands for any characters and ``[*]`` for a star; nothing else is special. Programs, names of options, operands
and paths are compared as they are written; subcommands, values of options and URLs without regard to case. In a list
of options and of ``via`` all entries must hold, and an entry may have alternatives: ``-f|--force``. In every other list
one entry is enough.

Examples are read as typed in the folder ``/home/dev/app``, which is the workspace, with the home ``/home/dev``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The kinds of a path, as `places.kinds` returns them.
KINDS = frozenset(
    "root system home user project workspace temp outside device null secret startup git agent accounts log kernel "
    "personal unknown".split()
)


def _form(pattern: str, form: str) -> AfterValidator:
    """Accept texts that ``pattern`` matches whole. ``form``: what they are, for the message."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text, re.DOTALL):
            raise ValueError(f"{text!r} is not {form}")
        return text

    return AfterValidator(check)


def _one_of(names: Callable[[], Iterable[str]], separator: str = "&") -> AfterValidator:
    """Accept texts of these ``names``, with ``separator`` between several."""

    def check(text: str) -> str:
        if wrong := set(text.split(separator)).difference(names()):
            raise ValueError(f"{min(wrong)!r} is none of these: {', '.join(sorted(names()))}")
        return text

    return AfterValidator(check)


def _statements() -> Iterable[str]:
    from agent_hooks_guards.programs.sql.statements import KINDS as STATEMENTS

    return STATEMENTS


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


_OPTION = r"([-+/][^\s=|]*(=[^|]*)?|[^\s=|]+=[^|]*)"
Text = Annotated[str, StringConstraints(min_length=1)]
Sentence = Annotated[str, _form(r"[^\n]*\S[^\n]*[.!?]", "a sentence: one line, with a full stop")]
Statement = Annotated[str, _one_of(_statements)]
Words = Annotated[str, _form(r"\S+( \S+)*", "words with single blanks between")]
ProgramName = Annotated[str, _form(r"[^\s/]+", "the name of a program: one word, without its folder")]
Flag = Annotated[str, _form(r"[-+]\S+", "an option: write --force, or -f")]
OptionText = Annotated[
    str, _form(rf"{_OPTION}(\|{_OPTION})*", "an option: write -f, --force, --request=DELETE, or several with | between")
]
KindText = Annotated[str, _one_of(lambda: KINDS)]
Expression = Annotated[Text, AfterValidator(_expression)]
Assignment = Annotated[str, _form(r"[A-Za-z0-9_*]+=.*", "an assignment: write NAME=*, or NAME=value")]
Name = Annotated[str, _form(r"[a-z0-9]+(-[a-z0-9]+)*", "a name: lower case letters, digits and single hyphens")]

EffectKind = Literal["read", "write", "delete", "change", "run", "send", "receive", "fork"]
DoubtKind = Literal["unreadable", "unknown-program", "unknown-code", "too-much"]
_Origin = Literal["network", "remote", "decoded", "secret", "credential", "environment", "personal"]
Label = Literal[_Origin, "input", "endless", "processes", "moved", "scratch", "credential:KEY", "credential:PASS"]
Host = Literal["", "remote", "container"]
# The kinds of an address, as `places.hosts` returns them.
Address = Literal["metadata", "link-local", "loopback", "private", "public", "unknown"]
# The judgements of `places.credentials`.
Destination = Literal["foreign", "unclear"]
Severity = Literal["high", "medium", "low", "unknown"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Count(_Table):
    """A range of numbers."""

    min: int = Field(0, ge=0, description="At least so many.")
    max: int | None = Field(None, ge=0, description="At most so many.")


class Match(_Table):
    """A condition on an action: all keys that are given must hold.

    With ``effect`` it is about an effect, and ``path``, ``not_path``, ``from`` and ``not_from`` are about that; all
    other keys are about the command whose effect it is. With ``doubt`` it is about something that could not be
    analysed. With neither it is about a command. A command that only prints its help is never matched.
    """

    program: list[Text] = Field([], description="The program's name, without its folder.")
    not_program: list[Text] = Field([], description="It is none of these.")
    is_known: bool | None = Field(None, description="Whether it is a program that this guard knows.")
    subcommand: list[Words] = Field(
        [],
        description="The words that it begins with besides options: 'push', 's3 rb', 'ec2 terminate-*'; '** delete': "
        "with any words before. They may reach into the operands.",
    )
    not_subcommand: list[Words] = Field([], description="It begins with none of these.")
    options: list[OptionText] = Field([], description="Each of these is given; a value as in '-X=DELETE|--request=*'.")
    without: list[OptionText] = Field([], description="None of these is given.")
    operand: list[str] = Field([], description="Some operand is like one of these.")
    not_operand: list[str] = Field([], description="No operand is like one of these.")
    operands: Count | None = Field(None, description="How many operands, without the words of the subcommand.")
    operands_after_dashes: Count | None = Field(None, description="How many operands stand behind '--'.")
    text: Expression | None = Field(
        None,
        description="A regular expression, searched in each word and in the input: the last resort. In settings it may "
        "not repeat inside of repeats, and a text too long for it counts as found.",
    )
    sql: list[Statement] = Field(
        [], description="Kinds of statements that it gives to a database; without `program`, any client."
    )
    assigns: list[Assignment] = Field([], description="A variable that is set for it: 'LD_PRELOAD=*'.")
    not_assigns: list[Assignment] = Field([], description="No such variable is set for it.")
    stdin: list[Label] = Field([], description="Where its input comes from.")
    has_input: bool | None = Field(None, description="Whether the command itself gives it something to read.")
    via: list[Text] = Field([], description="The programs that run it: 'sudo|doas'.")
    not_via: list[Text] = Field([], description="None of these runs it.")
    host: list[Host] = Field([], description="'' for this machine, 'remote' or 'container'.")
    shown: bool | None = Field(None, description="Whether its output is shown: no pipe, file or variable takes it.")
    root: bool | None = Field(None, description="Whether it is run as another user.")
    foreign: bool | None = Field(
        None, description="Whether it pushes to a repository or a registry that the project does not know."
    )
    background: bool | None = Field(None, description="Whether it goes on by itself.")
    endless: bool | None = Field(None, description="Whether it stands in a loop that nothing ends.")

    path: list[KindText] = Field(
        [], description="Some operand, as a path, is of one of these kinds; 'secret&workspace': of both."
    )
    not_path: list[KindText] = Field([], description="No operand, as a path, is of one of these kinds.")
    credential: list[Destination] = Field(
        [],
        description="A credential of the environment would go to a host that is not its own, or cannot be told to be: "
        "in an address, a body, a name that is looked up, or in a header to another host.",
    )
    from_: list[Label] = Field([], alias="from", description="Where some of its words come from.")
    not_from: list[Label] = Field([], description="Where none of its words comes from.")

    effect: list[EffectKind] = Field([], description="The kinds of effect.")
    file: list[Text] = Field([], description="The path is like one of these.")
    not_file: list[Text] = Field([], description="The path is like none of these.")
    url: list[Text] = Field([], description="The URL, or host and port, is like one of these.")
    not_url: list[Text] = Field([], description="The URL, or host and port, is like none of these.")
    address: list[Address] = Field([], description="The host, by some way of reading the address, is one of these.")
    not_address: list[Address] = Field(
        [], description="The host, by some way of reading the address, is none of these."
    )
    method: list[Text] = Field([], description="The method of HTTP, in upper case.")
    recursive: bool | None = Field(None, description="Whether a folder is meant with all that is in it.")
    append: bool | None = Field(None, description="Whether the old content is kept.")

    doubt: list[DoubtKind] = Field([], description="The kinds of doubt.")

    @model_validator(mode="after")
    def _is_about_one_thing(self) -> Self:
        given = self.model_fields_set
        if self.doubt:
            wrong = given - {"doubt", "from_", "not_from"}
        elif self.effect:
            wrong = set()
        else:
            wrong = given & {"file", "not_file", "url", "not_url", "address", "not_address"}
            wrong |= given & {"method", "recursive", "append", "credential"}
            if not self.program and not self.sql:
                raise ValueError("needs a program, sql, an effect or a doubt; program = ['*'] is any")
        if wrong:
            subject = "a doubt" if self.doubt else "a command, only for an effect"
            raise ValueError(f"{', '.join(sorted(key.rstrip('_') for key in wrong))}: not a key for {subject}")
        empty = [key.rstrip("_") for key in sorted(given) if getattr(self, key) == []]
        if empty:
            raise ValueError(f"{', '.join(empty)}: an empty list matches nothing")
        return self


class Rule(_Table):
    """Matches with one reason: an action that commands should not do."""

    id: Name = Field(description="Its name, unique over all families.")
    severity: Severity = Field(
        description="high: it cannot be undone, and is denied at every level; medium: harm is likely, and somebody is "
        "asked at standard and strict; low: asked at strict only; unknown: it cannot be analysed, asked at every level."
    )
    reason: Sentence = Field(description="One sentence: why.")
    instead: Sentence = Field(description="An alternative.")
    stops: list[Text] = Field([], description="Commands that this very rule matches.")
    leaves: list[Text] = Field([], description="Commands that it does not match.")
    match: list[Match] = Field(min_length=1, description="Any one of these is enough.")


class Family(_Table):
    """One file of rules."""

    family: Name = Field(description="Its name.")
    title: Text = Field(description="The subject of its rules.")
    rules: list[Rule] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        check_ids(self.rules)
        return self


def check_ids(rules: list[Rule]) -> None:
    """Raise ``ValueError`` if two rules have the same id."""
    names = [rule.id for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"two rules have the id {twice!r}")
