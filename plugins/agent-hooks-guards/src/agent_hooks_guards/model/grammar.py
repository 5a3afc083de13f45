"""The options of programs, from their declarations.

The grammar of a program is a list of its options; letters behind one dash are separate options. A sign at the end is
the kind of an option: ``=`` a value, ``?`` a value that is attached or missing, ``@`` a value and no options after it,
``#`` attached digits, ``&`` a name and a value, ``%`` no files behind it, ``!`` the program only prints something;
without a sign: no value. Tokens with a dot are ways of parsing: ``.abbreviates`` (long options may be cut short; all
are listed then), ``.stop:1`` (options end at the first operand), ``.names`` (long options have one dash), ``.letters``
(beside that, letters may be bundled), ``.own`` (a subcommand that does not take the options of its program), ``.keys``
(``key=value`` operands), ``.number:-n`` (``-5`` is ``-n 5``), ``.signals``, ``.modes``, ``.old`` (the first argument
may be a bundle without a dash), ``.plus`` (``+x`` is an option), ``.equals`` (``-x=value``), ``.h`` (``-h`` is help),
``.find`` (an expression), ``.valued`` (unlisted options have a value), ``.folded`` (case is ignored).
"""

from __future__ import annotations

from agent_hooks.system.caching import lru_cache

from .declarations import declarations, options_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .declarations import Entry

# Kinds of options.
FLAG = 0
VALUE = 1  # the rest of the argument, or the next argument
OPTIONAL = 2  # the rest of the argument, or none
HELP = 3  # the program only prints something
LAST = 4  # a value, and no options behind it: python -c
PAIR = 6  # a name and a value: jq --arg
TEXTS = 7  # operands behind it are texts: jq --args
DIGITS = 5  # digits that are attached, then other letters may follow: perl -0777ne

# Alternatives of `runs` in which the operands are a program with its arguments.
_RUNNING = frozenset(("argv", "command", "env", "package", "sh"))
_OPERANDS = frozenset("*0123456789")
_SUFFIXES = {"=": VALUE, "?": OPTIONAL, "!": HELP, "#": DIGITS, "@": LAST, "&": PAIR, "%": TEXTS}


class Grammar:
    """The options that a program takes, from its declaration."""

    __slots__ = ("kinds", "longs", "number", "stop", "styles")

    def __init__(self, entry: Entry) -> None:
        text = entry.get("options")
        if text is None:  # after the program that it runs, it has no options
            text = ".stop:1" if any(map(_runs_operands, entry.get("runs", ()))) else ""
        self.kinds: dict[str, int] = {}
        self.styles: set[str] = set()
        self.stop = 0
        self.number = ""
        for token in text.split():
            if token[0] == ".":
                name, _, value = token[1:].partition(":")
                self.styles.add(name)
                if name == "stop":
                    self.stop = int(value or 1)
                elif name == "number":
                    self.number = value
                continue
            kind = _SUFFIXES.get(token[-1], FLAG)
            if kind:
                token = token[:-1]
            if token[:2] == "--" or kind or "names" in self.styles:
                self.kinds[token] = kind
            else:
                for letter in token[1:]:
                    self.kinds["-" + letter] = kind
        for name in options_in(entry):
            self.kinds.setdefault(name, VALUE)
        dash = "-" if "names" in self.styles else "--"
        self.longs = [name for name in self.kinds if name.startswith(dash)] if "abbreviates" in self.styles else []
        self.kinds.setdefault(dash + "help", HELP)
        self.kinds.setdefault(dash + "version", HELP)
        if "h" in self.styles:
            self.kinds.setdefault("-h", HELP)


def _runs_operands(alternative: str) -> bool:
    name, _, selector = alternative.partition(" ")
    return name in _RUNNING and selector.removesuffix("+") in _OPERANDS


UNLISTED = Grammar({})
_ANY: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def grammar_of(path: str) -> Grammar | None:
    """Return the options of a program or subcommand; None if none are declared."""
    entry = declarations().get(path)
    is_declared = entry and (" " not in path or not entry.keys().isdisjoint(("options", "runs")))
    return Grammar(entry) if is_declared else None


@lru_cache(maxsize=4096)
def groups_of(name: str) -> dict[str, frozenset[str]] | None:
    """Return the tokens of a subcommand that continue with another one, with these others; an empty set: any.

    None for a program without subcommands.
    """
    entry = declarations().get(name)
    text = entry.get("groups")
    if text is None and "sub" not in entry:
        return None
    found = {}
    for token in (text or "").split():
        path, _, known = token.partition(":")
        found[path.replace("/", " ")] = frozenset(known.split("|")) if known else _ANY
    return found
