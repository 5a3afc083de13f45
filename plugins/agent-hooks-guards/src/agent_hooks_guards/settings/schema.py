"""The settings of the guards: ``[guards]`` of an agent-hooks.toml, ``[tool.agent_hooks.guards]`` of a pyproject.toml.
``GuardsSettings.model_json_schema()`` is their JSON Schema.

A project's settings can only tighten: exceptions, rules that are off, and everything else that loosens is for the files
of the user and the machine. Validation takes the ``PluginTable`` from its context.
"""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationInfo,
    model_validator,
)

from agent_hooks import RegistrationError
from agent_hooks_guards.guards import allowlist, arguments, blocklist
from agent_hooks_guards.guards.audit import MAX_LENGTH
from agent_hooks_guards.guards.base import SETTINGS_SOURCE, tool_test
from agent_hooks_guards.guards.egress import host_pattern
from agent_hooks_guards.guards.exceptions import is_too_wide
from agent_hooks_guards.guards.injection import DEFAULT_MATCH
from agent_hooks_guards.guards.redaction import DEFAULT_FIELDS, Redaction
from agent_hooks_guards.guards.roles import MESSAGE, ROLE_KEY, ROLES
from agent_hooks_guards.guards.shell import unknown_name
from agent_hooks_guards.rules.indexing import known_names
from agent_hooks_guards.rules.model import Flag, ProgramName, Rule, Words, check_ids
from agent_hooks_guards.rules.patterns import SafePattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.sources.plugin_settings import PluginTable


def _project(info: ValidationInfo) -> PluginTable | None:
    """Return the table that is validated if it is a project's."""
    table: PluginTable | None = (info.context or {}).get("table")
    return table if table is not None and table.source == "project" else None


def _accepted_by(make: Callable[[str, ValidationInfo], object]) -> Callable[[str, ValidationInfo], str]:
    """Accept a string if ``make`` does; its ``RegistrationError`` becomes a problem of this key."""

    def check(text: str, info: ValidationInfo) -> str:
        try:
            make(text, info)
        except RegistrationError as error:
            raise ValueError(str(error).rstrip(".")) from error
        return text

    return check


def _not_of_project(*values: str) -> AfterValidator:
    """Refuse these values in a project's file; without any, every value but an empty list."""

    def check(value: Any, info: ValidationInfo) -> Any:
        if (value in values if values else value) and _project(info):
            raise ValueError(
                f"a project can only make the guards stricter, and {value!r} would loosen them: leave it out, or put "
                "it into your own agent-hooks.toml (`agent-hooks allow` writes exceptions there)"
            )
        return value

    return AfterValidator(check)


@_accepted_by
def _pattern(text: str, info: ValidationInfo) -> None:
    SafePattern(text)
    if _project(info):  # RE2 must know it, too
        SafePattern(text, "project")


def _beside(path: str, info: ValidationInfo) -> str:
    """Resolve a project's relative pattern from the folder of its file."""
    table = _project(info)
    return os.path.join(os.path.dirname(table.path), path) if table and path[0] != "~" else path


def _known_rule(name: str, info: ValidationInfo) -> str:
    table: PluginTable | None = (info.context or {}).get("table")
    if table is None:
        return name
    rules = table.settings.get("rules")
    ids = [rule.get("id") for rule in rules if isinstance(rule, dict)] if isinstance(rules, (list, tuple)) else []
    own = [each for each in ids if isinstance(each, str)]
    names = known_names().union(own, ("project", "user", "managed"))  # rules of files have their rank as the family
    if name not in names:
        raise ValueError(unknown_name(name, names))
    return name


def _day(value: Any) -> Any:
    """Return the day of a text, as a table of TOML becomes in JSON."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return value


def _further_rule(rule: Rule, info: ValidationInfo) -> Rule:
    if rule.id in known_names():
        raise ValueError(f"there is a rule {rule.id!r} already; name it otherwise")
    for match in rule.match:
        _pattern(match.text or "", info)
    return rule


def _is_elsewhere(path: str) -> bool:
    """Return whether ``path`` may lead out of the folder that it is in."""
    parts = path.replace("\\", "/").split("/")
    return parts[0][:1] in ("", "~") or ":" in parts[0] or ".." in parts or os.path.isabs(path)


def _audit_file(path: str, info: ValidationInfo) -> str:
    # Models influence the lines in this file: it must not be one that something runs or reads as settings.
    if not path.endswith(".jsonl"):
        raise ValueError("must end in .jsonl")
    if not os.path.isabs(path) and ".." in path.replace("\\", "/").split("/"):
        raise ValueError("must stay in the state folder: leave out '..', or give an absolute path")
    # Nothing else in the state folder itself ends so.
    if _project(info) and (_is_elsewhere(path) or "/" in path.replace("\\", "/")):
        raise ValueError("of a project must be a name without folders: the file is in the state folder")
    return path


def _cancel_file(path: str, info: ValidationInfo) -> str:
    if _project(info) and _is_elsewhere(path):
        raise ValueError("of a project must be relative to this file and in its folder, without '..'")
    return path


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
MatchText = Annotated[Text, AfterValidator(_accepted_by(lambda text, _: tool_test(text, SETTINGS_SOURCE)))]
PermittedText = Annotated[
    Text, AfterValidator(_accepted_by(lambda text, _: allowlist.ToolAllowlist(text, source=SETTINGS_SOURCE)))
]
RedactText = Annotated[Text, AfterValidator(_accepted_by(lambda text, _: Redaction([text], MAX_LENGTH)))]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
PatternText = Annotated[str, StringConstraints(min_length=1), AfterValidator(_pattern)]
HostText = Annotated[Text, AfterValidator(_accepted_by(lambda text, _: host_pattern(text)))]
PathText = Annotated[Text, AfterValidator(_beside)]
RuleName = Annotated[Text, AfterValidator(_known_rule)]
MatchTexts = Annotated[
    list[MatchText], Field(min_length=1, description="Match texts: tool names, kinds, Claude Code's names, globs.")
]
Message = Annotated[str, Field(description="The reason; {tool} is the tool's name.")]
Level = Annotated[Literal["off", "relaxed", "standard", "strict"], _not_of_project("off", "relaxed")]
Decision = Literal["deny", "ask", "allow"]
AtLeastAsk = Annotated[Decision, _not_of_project("allow")]
AtLeastDeny = Annotated[Decision, _not_of_project("allow", "ask")]
Results = Annotated[Literal["redact", "deny", "allow"], _not_of_project("allow")]
Choice = Annotated[Literal["off", "ask", "deny"], _not_of_project("off")]
NotOfProject = _not_of_project()
PathsOfUser = Annotated[list[PathText], NotOfProject]
CancelFile = Annotated[Text, AfterValidator(_cancel_file)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class BlocklistRule(_Settings):
    """These tools are denied."""

    tools: MatchTexts
    message: Message = blocklist.MESSAGE


class AllowlistRule(_Settings):
    """All other tools are denied."""

    tools: list[PermittedText] = Field(
        min_length=1, description="Tool names, kinds, Claude Code's names for a kind; globs for names."
    )
    message: Message = allowlist.MESSAGE


class ArgumentRule(_Settings):
    """Calls with this in an argument are denied, or asked about."""

    field: Text = Field(description="An argument, a dotted path into it, '*', or one of command, paths, content, url.")
    pattern: PatternText = Field(description="A regular expression, searched anywhere in the argument's texts.")
    match: MatchText = Field("*", alias="matcher", description="Which tools: a match text.")
    decision: Literal["deny", "ask"] = Field("deny", description="What happens when the pattern is found.")
    message: str = Field(arguments.MESSAGE, description="The reason; {tool}, {field} and {pattern} are filled in.")


class CommandRule(_Settings):
    """Commands that may run this program are denied, or asked about, however they are written."""

    program: list[ProgramName] = Field(min_length=1, description="The program's name; any one of several.")
    subcommand: list[Words] = Field([], description="With one of these: 'push', 's3 rb'.")
    flags: list[Flag] = Field([], description="With one of these options, in any spelling: '--force', '-f'.")
    reason: Text | None = Field(None, description="The reason that the agent gets.")
    decision: Literal["deny", "ask"] = Field("deny", description="What happens to such a command.")


class RateLimitRule(_Settings):
    """A number of calls in a session, or in a window of time."""

    max_calls: int = Field(ge=0, description="How many calls are let through.")
    match: MatchText = Field("*", alias="matcher", description="Which tools count: a match text.")
    window_seconds: float | None = Field(None, gt=0, allow_inf_nan=False, description="The length of a window.")


class RoleRule(_Settings):
    """These tools are for people with one of these roles."""

    tools: MatchTexts
    roles: list[Text] = Field(list(ROLES), min_length=1, description="Any one of these is enough.")
    role_key: Text = Field(ROLE_KEY, description="Where the agent's state has the role in its metadata.")
    role_env: Text | None = Field(None, description="The environment variable that has the role where no state does.")
    message: str = Field(MESSAGE, description="The reason; {tool} and {roles} are filled in.")


class AuditSettings(_Settings):
    """One line of JSON for each tool call."""

    path: Annotated[Text, AfterValidator(_audit_file)] = Field(
        "audit.jsonl", description="The file, ending in .jsonl: absolute, below ~, or in the state folder."
    )
    redact: list[RedactText] = Field(
        list(DEFAULT_FIELDS), description="Values of keys that end so are never written; only letters and digits count."
    )
    max_length: int = Field(MAX_LENGTH, ge=1, description="Characters of a text that are kept.")
    results: bool = Field(False, description="Write a second line when the tool has answered.")


class PriceSettings(_Settings):
    """The price of a million tokens of a model."""

    input: Amount = Field(description="Tokens of the input.")
    output: Amount = Field(description="Tokens of the output.")
    cached: Amount | None = Field(None, description="Tokens of the input that the provider had cached.")
    reasoning: Amount | None = Field(None, description="Tokens of the output that nobody is shown.")


class CostSettings(_Settings):
    """The money that a run may cost."""

    max: Amount = Field(description="In the currency of the prices.")
    prices: dict[Text, PriceSettings] = Field(
        min_length=1, description="By the model's name or its beginning; the longest counts, '*' is any."
    )


class ShellSettings(_Settings):
    """Which commands are denied or asked about."""

    level: Level = Field(
        "standard",
        description="relaxed denies what cannot be undone; standard also asks where harm is likely; strict also asks "
        "about writes outside of the workspace, the network, and programs that are not known. A project can only make "
        "it stricter.",
    )
    rules: dict[RuleName, Choice] = Field(
        {}, description="By a rule's id or a family's name: what happens instead. A project cannot switch off."
    )


class PathSettings(_Settings):
    """Which files tools may read and write. A pattern is absolute, from ``~``, or relative: in a project's file to its
    folder, else to the workspace. ``*`` is any part of a name, ``**`` any folders; a folder stands for all in it.
    """

    level: Level = Field(
        "standard",
        description="relaxed asks nothing; standard asks about writes outside of the workspace; strict about reading "
        "there, too; off knows only protect and deny_read. A project can only make it stricter.",
    )
    allow_read: PathsOfUser = Field([], description="Left alone when they are read. Not for projects.")
    allow_write: PathsOfUser = Field([], description="Left alone when they are written or deleted. Not for projects.")
    protect: list[PathText] = Field([], description="Never written or deleted, whatever is allowed.")
    deny_read: list[PathText] = Field([], description="Never read, written or deleted, whatever is allowed.")


class SecretsSettings(_Settings):
    """The decision about keys and tokens. A project can only make it stricter."""

    sends: AtLeastDeny = Field("deny", description="In a call or a command that sends them to somebody else.")
    commands: AtLeastAsk = Field("ask", description="In a shell command.")
    writes: AtLeastAsk = Field("ask", description="In what is written to a file, or given to another tool.")
    results: Results = Field("redact", description="In what a tool returns.")


class EgressSettings(_Settings):
    """Which hosts may be reached. A host is a name or an address, with ``*`` for any part of it, and ``:port``."""

    level: Level = Field(
        "standard",
        description="relaxed leaves private networks alone; standard asks about them when a tool reaches there, not a "
        "command; strict asks about every host that is not allowed; off knows only deny. A project can only make it "
        "stricter.",
    )
    allow: Annotated[list[HostText], NotOfProject] = Field([], description="Left alone. Not for projects.")
    deny: list[HostText] = Field([], description="Denied, whatever is allowed.")
    private: AtLeastAsk | None = Field(None, description="The decision about private networks instead.")
    others: Decision | None = Field(None, description="The decision about all other hosts instead.")


class InjectionSettings(_Settings):
    """A warning for the model where a result tries to instruct it; there is none without this table."""

    match: MatchText = Field(DEFAULT_MATCH, alias="matcher", description="Which tools' results: a match text.")


class ExceptionSettings(_Settings):
    """Commands that pass though they break a rule of the shell guard. Not for projects."""

    rule: RuleName = Field(description="A rule's id, or a family's name.")
    command: Text | None = Field(None, description="A glob for the command, its words separated by single blanks.")
    path: Text | None = Field(None, description="A glob: the path in question, or the folder of the command.")
    branch: Text | None = Field(None, description="A glob: every branch that a git command names, or the current one.")
    until: Annotated[date | None, BeforeValidator(_day)] = Field(None, description="The last day on which it holds.")
    reason: Text | None = Field(None, description="A note.")

    @model_validator(mode="after")
    def _is_narrow(self) -> ExceptionSettings:
        given = {"command": self.command, "path": self.path, "branch": self.branch}
        problem = "" if any(given.values()) else "an exception is for a command, a path or a branch: give one of them"
        for key, glob in given.items():
            if glob and is_too_wide(key, glob):
                problem = problem or f"{key} = {glob!r} is nearly everything: name what it is about"
        if problem:
            raise ValueError(f'{problem}, or switch the rule off with {self.rule} = "off" below shell.rules')
        return self


def _form_of_rule(rule: Any) -> str:
    return "CommandRule" if isinstance(rule, dict) and "program" in rule and "match" not in rule else "Rule"


FurtherRule = Annotated[
    Annotated[CommandRule, Tag("CommandRule")] | Annotated[Rule, AfterValidator(_further_rule), Tag("Rule")],
    Discriminator(_form_of_rule),
]


class GuardsSettings(_Settings):
    """The settings of all guards. All rules hold at once."""

    # Each file has its own guards, which all hold; the validators refuse whatever loosens in a project's.
    by_file: ClassVar[bool] = True

    blocklist: list[BlocklistRule] = []
    allowlist: list[AllowlistRule] = []
    arguments: list[ArgumentRule] = []
    roles: list[RoleRule] = []
    rate_limit: list[RateLimitRule] = []
    audit: AuditSettings | None = None
    max_steps: int | None = Field(None, ge=0, description="Steps of one run.")
    max_tokens: int | None = Field(None, ge=0, description="Tokens of one run, input and output.")
    max_execution_time: Amount | None = Field(None, description="Seconds that one run may take.")
    finish_reasons: list[Text] = Field([], description="An answer that ends for one of these ends the run.")
    cost: CostSettings | None = None
    cancel_file: CancelFile | None = Field(None, description="While this file exists, no run begins or goes on.")
    shell: ShellSettings | None = None
    paths: PathSettings | None = None
    secrets: SecretsSettings | None = None
    egress: EgressSettings | None = None
    injection: InjectionSettings | None = None
    allow: Annotated[list[ExceptionSettings], NotOfProject] = []
    rules: list[FurtherRule] = Field(
        [], description="Further rules about commands, beside those of the shell guard: a program, or matches."
    )

    @model_validator(mode="after")
    def _count_once(self) -> GuardsSettings:
        seen = [(rule.match, rule.window_seconds) for rule in self.rate_limit]
        if twice := next((rule for rule in seen if seen.count(rule) > 1), None):
            raise ValueError(f"two rate limits count the same calls (matcher {twice[0]!r}): keep the smaller one")
        check_ids([rule for rule in self.rules if isinstance(rule, Rule)])
        return self
