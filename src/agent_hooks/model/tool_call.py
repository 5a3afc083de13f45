"""A tool call and its execution."""

from __future__ import annotations

from collections.abc import Mapping

from .tools import (
    CLAUDE_NAMES,
    FILE_KINDS,
    KIND_OF_NAME,
    KINDS,
    FileOperation,
    addresses_in,
    command_in,
    content_in,
    is_trusted_name,
    patch_operations,
    patch_text,
    paths_in,
)
from .values import FrozenDict, Value, checked, freeze, new_value, once, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, ClassVar

    from agent_hooks.shell.queries import CommandText, ShellCommand


# Texts for the model, in front of a reason or a message.
DENIED, _WITHHELD, _FAILED = "Denied: ", "Result withheld: ", "Error: "
# The error type of a result that hooks withhold from the model.
WITHHELD_TYPE = "ToolResultWithheld"


class ErrorInfo(Value):
    """An error as data: the class's name and the message."""

    type: str
    message: str = ""

    @classmethod
    def of(cls, error: BaseException | ErrorInfo) -> ErrorInfo:
        """Return ``error`` as data."""
        return error if isinstance(error, ErrorInfo) else cls(type=type(error).__name__, message=written(error))


def _arguments(given: Any) -> dict[str, Any]:
    """Return arguments as a dict. Raises ``TypeError`` for what is neither a mapping nor the JSON text of an object."""
    try:
        if isinstance(given, str):
            from agent_hooks.system.quick_json import loads

            given = loads(given)
        return dict(checked(given, Mapping, "ToolCall.args"))
    except ValueError as error:
        raise TypeError(f"ToolCall.args must be a mapping or the JSON text of an object: {error}.") from None


class ToolCall(Value):
    """A tool the model wants to use: ``name`` as its host calls it, ``args`` read-only all the way down. A text
    is read as the JSON of an object, which is how some APIs deliver arguments.

    ``kind`` is one of ``tools.KINDS``, by default the one that Claude Code's tool of this name has, else ``other``;
    ``aliases`` are further names that a match may use; ``id`` is the host's, empty if it has none.
    """

    name: str
    args: Mapping[str, Any] = FrozenDict()
    id: str = ""
    kind: str = "other"
    aliases: tuple[str, ...] = ()

    __slots__ = ("_command", "_names", "_parsed", "_paths")

    def __init__(
        self,
        name: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        id: str = "",  # noqa: A002 - hosts call it so
        kind: str | None = None,
        aliases: Iterable[str] = (),
    ) -> None:
        fields: dict[str, Any] = {"name": name if type(name) is str else checked(name, str, "ToolCall.name")}
        if args:
            fields["args"] = freeze(args if isinstance(args, dict) else _arguments(args))
        if id:
            fields["id"] = id
        kind = kind or KIND_OF_NAME.get(name, "other")
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is not a kind of tool; use one of {', '.join(KINDS)}.")
        if kind != "other" or name in KIND_OF_NAME:
            fields["kind"] = kind
        if aliases:
            fields["aliases"] = tuple(aliases)
        self._fields = fields

    def with_args(self, args: Mapping[str, Any] | str) -> ToolCall:
        """Return the same call with ``args`` instead, whole."""
        fields = self._fields.copy()
        args = args if isinstance(args, dict) else _arguments(args)
        fields["args"] = args if type(args) is FrozenDict else freeze(args)
        new = new_value(ToolCall)
        new._fields = fields
        return new

    @once
    def names(self) -> tuple[str, ...]:
        """Every name a match is tried on: the host's, the kind, Claude Code's for that kind, the aliases, and those of
        the files' operations where one call does several things.
        """
        kinds = dict.fromkeys(operation.kind for operation in self._patched) or (self.kind,)
        claude = [name for kind in kinds for name in CLAUDE_NAMES.get(kind, ())]
        return (self.name, *kinds, *claude, *self.aliases)

    @property
    def weak_names(self) -> tuple[str, ...]:
        """Names that may meet a deny, never an allow: the last segment of a dotted name with the kind it implies,
        and for a patch the names of edits and writes, whatever it does.
        """
        segment = self.last_segment
        kinds = [KIND_OF_NAME.get(segment, "")] if segment else []
        if self._patched:
            kinds += ["edit", "write"]
        return tuple(name for name in (segment, *kinds, *(n for k in kinds for n in CLAUDE_NAMES.get(k, ()))) if name)

    @property
    def last_segment(self) -> str:
        """The part of a dotted name after its last dot, else an empty string. It may meet a deny, never an allow."""
        return self.name.rpartition(".")[2] if "." in self.name else ""

    @property
    def has_trusted_name(self) -> bool:
        """Whether the name has only characters that can satisfy an allow."""
        return is_trusted_name(self.name)

    @once
    def command(self) -> str:
        """The command line of a shell call (several on lines of their own), an argv joined; else empty."""
        is_shell = self.kind == "shell" or KIND_OF_NAME.get(self.last_segment) == "shell"
        return command_in(self.args) if is_shell else ""

    # -- questions about the command -----------------------------------------------------------------------------------

    @property
    def _text(self) -> CommandText:
        found: CommandText | None = getattr(self, "_parsed", None)
        if found is None:
            from agent_hooks.shell.queries import CommandText

            text = self.command or (command_in(self.args) if self.kind in ("mcp", "other") else "")
            found = self._parsed = CommandText(text)
        return found

    def may_run(self, program: str, *subcommand: str, flags: Collection[str] = ()) -> bool:
        """Whether the command may run ``program``: True unless its words exclude it. For deny and ask.

        It sees through wrappers, options, quoting, shells within shells, functions and variables; a word that is only
        known when the command runs may be any. A text that nobody runs does not count. Nor does a script: see
        ``is_opaque``. ``flags``: with any of these options, abbreviated or combined. Raises ``ValueError`` for a word
        with a blank in it.

        >>> ToolCall("Bash", {"command": "git -C . push"}).may_run("git", "push")
        True
        >>> ToolCall("Bash", {"command": "echo git push"}).may_run("git", "push")
        False
        """
        if any(not word or " " in word for word in (program, *subcommand)):
            raise ValueError('may_run() takes a program and its subcommands as words: may_run("git", "push").')
        return self._text.may_run(program, subcommand, flags)

    def runs_only(self, *commands: str) -> bool:
        """Whether the command surely runs nothing but these ``commands``, whatever arguments follow. For allow.

        Each program is one by its bare name, without assignment, redirection, substitution, pattern or function.

        >>> ToolCall("Bash", {"command": "git status && git diff"}).runs_only("git status", "git diff")
        True
        >>> ToolCall("Bash", {"command": "git status > file"}).runs_only("git status")
        False
        """
        return self._text.runs_only([command.split() for command in commands])

    @property
    def commands(self) -> tuple[ShellCommand, ...]:
        """The simple commands of the command line, each with its ``program``, ``subcommand``, ``options``, ``args`` and
        ``is_certain``; empty for a call without a command.
        """
        return self._text.commands()

    @property
    def is_opaque(self) -> bool:
        """Whether the command may run anything: an unknown program, a script, code, or text that cannot be read."""
        return self._text.is_opaque()

    @property
    def _patched(self) -> tuple[FileOperation, ...]:
        patch = patch_text(self.name, self.args)
        return patch_operations(patch) if patch else ()

    @property
    def file_operations(self) -> tuple[FileOperation, ...]:
        """The file operations of the call, in order; empty for a shell call, whose files are not known."""
        patched = self._patched
        if patched or self.kind not in FILE_KINDS:
            return patched
        kind = "read" if self.kind == "search" else self.kind
        return tuple(FileOperation(kind=kind, path=path) for path in paths_in(self.name, self.args))

    @once
    def paths(self) -> tuple[str, ...]:
        """The files and directories the arguments name, as the host gave them; empty for a shell call."""
        patched = self._patched
        if patched:
            return tuple(operation.path for operation in patched)
        return () if self.kind == "shell" else paths_in(self.name, self.args)

    @property
    def content(self) -> str:
        """The text a write or edit puts into a file (for a patch, the patch), else an empty string."""
        return patch_text(self.name, self.args) or (
            content_in(self.args, self.kind) if self.kind in ("write", "edit", "other", "mcp") else ""
        )

    @property
    def url(self) -> str:
        """The address a fetch goes to (several on lines of their own), else an empty string."""
        return "\n".join(dict.fromkeys(addresses_in(self.args, self.kind)))


class ToolExecution(Value):
    """An executed or blocked tool call. ``duration`` is in seconds; ``context`` is added by hooks."""

    call: ToolCall
    result: Any = None
    error: ErrorInfo | None = None
    was_blocked: bool = False
    reason: str = ""
    context: str = ""
    duration: float = 0.0

    _held = frozenset({"result"})
    _decode: ClassVar[dict[str, Any]] = {"call": ToolCall.from_dict, "error": ErrorInfo.from_dict}

    @classmethod
    def denied(cls, call: ToolCall, reason: str) -> ToolExecution:
        """Return the execution that stands for a call a hook blocked."""
        return cls(call=call, was_blocked=True, reason=reason, error=ErrorInfo(type="ToolBlocked", message=reason))

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.call.name

    @property
    def failed(self) -> bool:
        """Whether there is an error, a block included."""
        return self.error is not None

    @property
    def text(self) -> str:
        """The text for the model: the result (a string unchanged, None as an empty one, the rest as JSON) or the
        reason, and the context of hooks.
        """
        fields = self._fields  # this runs for each call
        error = fields.get("error")
        if fields.get("was_blocked"):
            text = DENIED + self.reason
        elif error is None:
            result = fields.get("result")
            if type(result) is str:
                text = result
            else:
                from .snapshot import as_text

                text = as_text(result)
        elif error.type == WITHHELD_TYPE:
            text = _WITHHELD + self.reason
        else:
            text = _FAILED + error.message
        return f"{text}\n\n{self.context}" if "context" in fields and self.context else text

    def withheld(self, reason: str) -> ToolExecution:
        """Return a copy without the result or the error, which the model must not read."""
        return self.replace(result=None, error=ErrorInfo(type=WITHHELD_TYPE, message=reason), reason=reason)

    def with_added_context(self, text: str) -> ToolExecution:
        """Return a copy with ``text`` added to the context, after a blank line."""
        return self.replace(context=f"{self.context}\n\n{text}" if self.context else text)
