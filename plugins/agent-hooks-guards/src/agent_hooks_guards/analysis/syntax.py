"""The tree that a shell command is read into: what bash's grammar says, without positions of blanks and comments.

``reader`` makes it and ``evaluation`` walks through it. Every node keeps where in the text it stands, ``start`` and
``end`` in characters.
"""

from __future__ import annotations

from agent_hooks_guards.model.record import Record


class Bare(Record):
    """Text of a word that is not quoted: a tilde, globs and braces in it mean something; backslashes are resolved (what
    they protect is a plain ``str`` part beside it).
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Parameter(Record):
    """``$name`` and ``${name…}``. ``name``: a variable, or one of ``@ * # ? - $ ! 0 1 2 …``. ``operator``: what follows
    the name (``:-``, ``-``, ``:=``, ``:+``, ``:?``, ``#``, ``##``, ``%``, ``%%``, ``/``, ``//``, ``/#``, ``/%``, ``:``,
    ``^``, ``^^``, ``,``, ``,,``, ``@Q`` …), or ``length`` for ``${#name}``, ``indirect`` for ``${!name}``, ``keys`` for
    ``${!name[@]}``, "" for none. ``arguments``: the words behind it: one; two for ``/`` and for ``:`` with a length.
    ``index``: the word in brackets, None if there is none.
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
    """``$(…)`` and backquotes. ``text``: what stands inside."""

    __slots__ = ("body", "quoted", "text")

    def __init__(self, body: Node, quoted: bool = False, text: str = "") -> None:
        self.body = body
        self.quoted = quoted
        self.text = text


class ProcessSubstitution(Record):
    """``<(…)`` and ``>(…)``; ``direction`` is ``<`` or ``>``."""

    __slots__ = ("body", "direction")

    def __init__(self, body: Node, direction: str) -> None:
        self.body = body
        self.direction = direction


class Arithmetic(Record):
    """``$((…))``, with the substitutions and parameters in it among its ``parts``."""

    __slots__ = ("parts", "quoted")

    def __init__(self, parts: Word, quoted: bool = False) -> None:
        self.parts = parts
        self.quoted = quoted


# A plain ``str`` is text that was quoted or escaped: exactly that, no glob, never split. ANSI-C quotes are resolved.
Part = str | Bare | Parameter | Substitution | ProcessSubstitution | Arithmetic
Word = list[Part]


class Redirect(Record):
    """``operator``: ``<``, ``>``, ``>>``, ``>|``, ``<>``, ``<&``, ``>&``, ``&>``, ``&>>``, ``<<<``, ``<<``. ``fd``: a
    number, a variable's name for ``{name}>``, or None. ``target``: the file, the here-string, or the body of the
    here-document (one ``str`` if its delimiter was quoted, else with its parameters and substitutions).
    """

    __slots__ = ("fd", "operator", "target")

    def __init__(self, operator: str, target: Word, fd: int | str | None = None) -> None:
        self.operator = operator
        self.target = target
        self.fd: int | str | None = fd


class Assignment(Record):
    """``name=value``, ``name+=value``, ``name[i]=value``, ``name=(a b)``: the last has ``items`` instead of a value."""

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
    """A simple command. Also ``[ … ]``, ``export``, ``declare``, ``local``, ``readonly``, ``unset``, with their
    operands as words (but an array, ``declare -a a=(x y)``, as an assignment).

    ``plain``: the texts of its words where that is all they are, as in most commands: nothing is quoted or expanded in
    them, and nothing in them is a pattern. They are ``words``, too, for who asks for those.
    """

    __slots__ = ("_words", "assignments", "end", "plain", "redirects", "start")

    def __init__(
        self,
        assignments: list[Assignment],
        words: list[Word],
        redirects: list[Redirect],
        start: int = 0,
        end: int = 0,
        plain: list[str] | None = None,
    ) -> None:
        self.assignments = assignments
        self._words: list[Word] | None = words if plain is None else None
        self.redirects = redirects
        self.start = start
        self.end = end
        self.plain = plain

    @property
    def words(self) -> list[Word]:
        """Its words."""
        if self._words is None:
            self._words = [[Bare(text)] for text in self.plain or ()]
        return self._words

    def by_name(self) -> dict[str, object]:
        """Return its parts by their names, whichever way the words are kept."""
        names = ("assignments", "words", "redirects", "start", "end")
        return {name: getattr(self, name) for name in names}


class Pipeline(Record):
    """Commands that read what the one before prints."""

    __slots__ = ("end", "parts", "start")

    def __init__(self, parts: list[Node], start: int = 0, end: int = 0) -> None:
        self.parts = parts
        self.start = start
        self.end = end


class Item(Record):
    """One of a list. ``operator``: what stands before it, ``;`` (also a new line, and the first), ``&&`` or ``||``."""

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
    """``{ …; }``, or ``( … )`` with ``subshell``, or what only carries redirections."""

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
    """``branches``: pairs of a condition and a body, ``elif`` too; ``otherwise``: the ``else``."""

    __slots__ = ("branches", "end", "otherwise", "start")

    def __init__(
        self, branches: list[tuple[Node, Node]], otherwise: Node | None = None, start: int = 0, end: int = 0
    ) -> None:
        self.branches = branches
        self.otherwise: Node | None = otherwise
        self.start = start
        self.end = end


class For(Record):
    """``for name in words``; ``words`` is None for ``for name`` alone. ``select`` is the same."""

    __slots__ = ("body", "end", "name", "start", "words")

    def __init__(self, name: str, words: list[Word] | None, body: Node, start: int = 0, end: int = 0) -> None:
        self.name = name
        self.words = words
        self.body = body
        self.start = start
        self.end = end


class While(Record):
    """``while``; ``until``, with ``until``; ``for ((…))``, whose three expressions are the words of the condition."""

    __slots__ = ("body", "condition", "end", "start", "until")

    def __init__(self, condition: Node, body: Node, until: bool = False, start: int = 0, end: int = 0) -> None:
        self.condition = condition
        self.body = body
        self.until = until
        self.start = start
        self.end = end


class Case(Record):
    """``branches``: pairs of the patterns and the body."""

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
    """``coproc``; ``name``: of the array with its descriptors, "" for the usual one."""

    __slots__ = ("body", "end", "name", "start")

    def __init__(self, body: Node, start: int = 0, end: int = 0, name: str = "") -> None:
        self.body = body
        self.name = name
        self.start = start
        self.end = end


class Test(Record):
    """``[[ … ]]`` and ``(( … ))``: their operands, for the substitutions in them."""

    __slots__ = ("end", "start", "words")

    def __init__(self, words: list[Word], start: int = 0, end: int = 0) -> None:
        self.words = words
        self.start = start
        self.end = end


class Unreadable(Record):
    """A part that could not be read. ``readable``: what could be read inside of it all the same."""

    __slots__ = ("end", "readable", "start", "text")

    def __init__(self, text: str, readable: list[Node] | None = None, start: int = 0, end: int = 0) -> None:
        self.text = text
        self.readable: list[Node] = [] if readable is None else readable
        self.start = start
        self.end = end


Node = Simple | Pipeline | Sequence | Group | If | For | While | Case | Function | Coprocess | Test | Unreadable
