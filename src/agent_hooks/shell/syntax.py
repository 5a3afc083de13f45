"""The syntax tree of a command line. Nodes have a span, ``start`` and ``end``, in characters of the source."""

from __future__ import annotations

# Stands in a word for text that only another shell, or nobody, can determine.
UNKNOWN = "\ue000"


class Record:
    """A plain object that is compared and shown by its slots.

    Not a dataclass: creating one takes longer than parsing a command, and a process may parse only one.
    """

    __slots__: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]  # mutable

    def by_name(self) -> dict[str, object]:
        """Return the values of the slots by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.by_name() == other.by_name()

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={part!r}" for name, part in self.by_name().items())
        return f"{type(self).__name__}({parts})"


class Bare(Record):
    """Unquoted text of a word, in which tildes, globs and braces are special. Escaped characters are not part of it:
    they are a ``str`` beside it.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Parameter(Record):
    """``$name`` and ``${name…}``.

    ``name``: a variable or one of ``@ * # ? - $ ! 0 1 2 …``. ``operator``: the characters after the name (``:-``,
    ``##``, ``/``, ``:``, ``^^``, ``@Q``, …), ``length`` for ``${#name}``, ``indirect`` for ``${!name}``, ``keys`` for
    ``${!name[@]}``, ``names`` for ``${!name@}``, or "". ``arguments``: the words after the operator: one, but two for
    ``/`` and for ``:`` with a length. ``index``: the subscript, None without one.
    """

    __slots__ = ("arguments", "index", "name", "operator", "quoted")

    def __init__(
        self,
        name: str,
        operator: str = "",
        arguments: list[Word] | None = None,
        index: Word | None = None,
        quoted: bool = False,
    ) -> None:
        self.name = name
        self.operator = operator
        self.arguments: list[Word] = [] if arguments is None else arguments
        self.index: Word | None = index
        self.quoted = quoted


class Substitution(Record):
    """``$(…)`` and backquotes. ``text``: the source between the delimiters."""

    __slots__ = ("body", "quoted", "text")

    def __init__(self, body: Node, quoted: bool = False, text: str = "") -> None:
        self.body = body
        self.quoted = quoted
        self.text = text


class ProcessSubstitution(Record):
    """``<(…)`` and ``>(…)``; ``direction`` is ``<`` or ``>``, ``text`` the source between the brackets."""

    __slots__ = ("body", "direction", "text")

    def __init__(self, body: Node, direction: str, text: str = "") -> None:
        self.body = body
        self.direction = direction
        self.text = text


class Arithmetic(Record):
    """``$((…))``; ``parts`` contains its parameters and substitutions."""

    __slots__ = ("parts", "quoted")

    def __init__(self, parts: Word, quoted: bool = False) -> None:
        self.parts = parts
        self.quoted = quoted


# A ``str`` is quoted or escaped text, taken literally. ANSI-C quotes are decoded.
Part = str | Bare | Parameter | Substitution | ProcessSubstitution | Arithmetic
Word = list[Part]


class Redirect(Record):
    """A redirection.

    ``operator``: ``<``, ``>``, ``>>``, ``>|``, ``<>``, ``<&``, ``>&``, ``&>``, ``&>>``, ``<<<``, ``<<``. ``fd``: a
    number, the variable of ``{name}>``, or None. ``target``: the file, the here-string, or the body of the
    here-document (one ``str`` if its delimiter is quoted).
    """

    __slots__ = ("fd", "operator", "target")

    def __init__(self, operator: str, target: Word, fd: int | str | None = None) -> None:
        self.operator = operator
        self.target = target
        self.fd: int | str | None = fd


class Assignment(Record):
    """``name=value``, ``name+=value``, ``name[i]=value``, or ``name=(a b)``, which has ``items`` and no value."""

    __slots__ = ("append", "index", "items", "name", "value")

    def __init__(
        self,
        name: str,
        value: Word | None = None,
        append: bool = False,
        index: Word | None = None,
        items: list[Word] | None = None,
    ) -> None:
        self.name = name
        self.value: Word = [] if value is None else value
        self.append = append
        self.index: Word | None = index
        self.items: list[Word] | None = items


class Simple(Record):
    """A simple command. The operands of ``declare`` and its like are words, except arrays, which are assignments.

    ``plain``: the words as strings if the whole command is plain (see ``plain``), else None. ``raw``: the words as
    they are spelled in the source.
    """

    __slots__ = ("_raw", "_words", "assignments", "end", "plain", "redirects", "start")

    def __init__(
        self,
        assignments: list[Assignment],
        words: list[Word],
        redirects: list[Redirect],
        start: int = 0,
        end: int = 0,
        plain: list[str] | None = None,
        raw: list[str] | None = None,
    ) -> None:
        self.assignments = assignments
        self._words: list[Word] | None = words if plain is None else None
        self.redirects = redirects
        self.start = start
        self.end = end
        self.plain = plain
        self._raw = raw

    @property
    def words(self) -> list[Word]:
        """The name of the program and its arguments."""
        if self._words is None:
            self._words = [[Bare(text)] for text in self.plain or ()]
        return self._words

    @property
    def raw(self) -> list[str]:
        """The words as they are spelled in the source, without joined lines."""
        raw = self._raw if self._raw is not None else self.plain
        return [word.replace("\\\n", "") for word in raw or ()]

    def by_name(self) -> dict[str, object]:
        """Return the values of the slots by name, the same however the words are stored."""
        names = ("assignments", "words", "redirects", "start", "end")
        return {name: getattr(self, name) for name in names}


class Pipeline(Record):
    """Commands joined by ``|``. ``|&`` is a redirection ``2>&1`` of the command before it."""

    __slots__ = ("end", "parts", "start")

    def __init__(self, parts: list[Node], start: int = 0, end: int = 0) -> None:
        self.parts = parts
        self.start = start
        self.end = end


class Item(Record):
    """An element of a list. ``operator``: the one before it: ``;`` (a newline, or none), ``&&`` or ``||``."""

    __slots__ = ("background", "node", "operator")

    def __init__(self, node: Node, operator: str = ";", background: bool = False) -> None:
        self.node = node
        self.operator = operator
        self.background = background


class Sequence(Record):
    """A list of commands."""

    __slots__ = ("end", "items", "start")

    def __init__(self, items: list[Item], start: int = 0, end: int = 0) -> None:
        self.items = items
        self.start = start
        self.end = end


class Group(Record):
    """``{ …; }``, ``( … )`` with ``subshell``, or another compound command that has redirections."""

    __slots__ = ("body", "end", "redirects", "start", "subshell")

    def __init__(
        self, body: Node, redirects: list[Redirect], subshell: bool = False, start: int = 0, end: int = 0
    ) -> None:
        self.body = body
        self.redirects = redirects
        self.subshell = subshell
        self.start = start
        self.end = end


class If(Record):
    """``if``; ``branches``: pairs of condition and body, one for each ``elif`` too; ``otherwise``: the ``else``."""

    __slots__ = ("branches", "end", "otherwise", "start")

    def __init__(
        self, branches: list[tuple[Node, Node]], otherwise: Node | None = None, start: int = 0, end: int = 0
    ) -> None:
        self.branches = branches
        self.otherwise: Node | None = otherwise
        self.start = start
        self.end = end


class For(Record):
    """``for name in words`` and ``select``; ``words`` is None for ``for name`` alone."""

    __slots__ = ("body", "end", "name", "start", "words")

    def __init__(self, name: str, words: list[Word] | None, body: Node, start: int = 0, end: int = 0) -> None:
        self.name = name
        self.words = words
        self.body = body
        self.start = start
        self.end = end


class While(Record):
    """``while``, ``until``, and ``for ((…))``, whose condition is a ``Test`` of its expressions."""

    __slots__ = ("body", "condition", "end", "start", "until")

    def __init__(self, condition: Node, body: Node, until: bool = False, start: int = 0, end: int = 0) -> None:
        self.condition = condition
        self.body = body
        self.until = until
        self.start = start
        self.end = end


class Case(Record):
    """``case``; ``branches``: pairs of patterns and body."""

    __slots__ = ("branches", "end", "start", "word")

    def __init__(self, word: Word, branches: list[tuple[list[Word], Node]], start: int = 0, end: int = 0) -> None:
        self.word = word
        self.branches = branches
        self.start = start
        self.end = end


class Function(Record):
    """The definition of a function."""

    __slots__ = ("body", "end", "name", "start")

    def __init__(self, name: str, body: Node, start: int = 0, end: int = 0) -> None:
        self.name = name
        self.body = body
        self.start = start
        self.end = end


class Coprocess(Record):
    """``coproc``; ``name``: the array of its descriptors, "" for the default."""

    __slots__ = ("body", "end", "name", "start")

    def __init__(self, body: Node, start: int = 0, end: int = 0, name: str = "") -> None:
        self.body = body
        self.name = name
        self.start = start
        self.end = end


class Test(Record):
    """``[[ … ]]`` and ``(( … ))``: the operands, for their substitutions."""

    __slots__ = ("end", "start", "words")

    def __init__(self, words: list[Word], start: int = 0, end: int = 0) -> None:
        self.words = words
        self.start = start
        self.end = end


class Unreadable(Record):
    """Source that bash's grammar does not allow. ``readable``: the simple commands and tests found in it; ``reason``:
    the first error; ``is_cut``: whether a quote or a bracket is not closed, or the limits are exceeded.
    """

    __slots__ = ("end", "is_cut", "readable", "reason", "start", "text")

    def __init__(
        self,
        text: str,
        readable: list[Node] | None = None,
        start: int = 0,
        end: int = 0,
        reason: str = "",
        is_cut: bool = False,
    ) -> None:
        self.text = text
        self.readable: list[Node] = [] if readable is None else readable
        self.start = start
        self.end = end
        self.reason = reason
        self.is_cut = is_cut


Node = Simple | Pipeline | Sequence | Group | If | For | While | Case | Function | Coprocess | Test | Unreadable


def append_part(parts: Word, part: Part) -> None:
    """Append a part to a word; adjacent text of one kind becomes one part."""
    if parts:
        last = parts[-1]
        if type(part) is str and type(last) is str:
            parts[-1] = last + part
            return
        if type(part) is Bare and type(last) is Bare:
            parts[-1] = Bare(last.text + part.text)
            return
    parts.append(part)
