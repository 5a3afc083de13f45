"""What a PowerShell command would do: its own tokens, its cmdlets by their full names, its calls of .NET.

Destruction of files and disks and code from elsewhere are the aim; everything else is told as plain commands. Values
are followed through variables, joins and decoders as far as they are known; both ways of a condition are walked.
"""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command, Doubt, Effect
from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.paths import absolute

from .powershell_names import ALIASES, ALSO_PROGRAMS, PARAMETERS, SWITCHES
from .powershell_reader import DEEPEST, Reader
from .powershell_values import LONGEST, Block, Object, Parameter, Value, known, labels_of, text_of
from .walking import WindowsWalk, settled

_MOST_STEPS = 20_000
_MOST_AGAIN = 3  # calls of a function by itself


def analyse_powershell(text: str, place_cwd: str, home: str = "") -> tuple[list[Command], list[Effect], list[Doubt]]:
    """Return what the PowerShell ``text`` would do in ``place_cwd``: commands, effects and doubts.

    Cmdlets are told by their full names in lower case, with their parameters in full as ``-recurse``. ``home``: what
    ``~`` stands for, "" if that is not known. Programs that are not PowerShell's own are only told: what they run in
    turn is for the caller. It never raises.
    """
    walk = Walk(place_cwd, home)
    try:
        walk.run(text)
    except RecursionError:
        walk.doubt("too-much", text)
    return walk.commands, settled(walk.effects, place_cwd, home), walk.doubts


class Walk(WindowsWalk):
    """A walk through one PowerShell command."""

    def __init__(self, cwd: str, home: str = "") -> None:
        super().__init__(cwd, home)
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, Block] = {}
        self.aliases: dict[str, str] = {}
        self.running: list[str] = []
        self.has_cut = False
        self.steps = _MOST_STEPS
        self.depth = 0
        self.fragment = ""

    def run(self, text: str) -> Value:
        """Walk through ``text``; the value of its last statement."""
        if self.depth > DEEPEST or len(text) > LONGEST:
            self.doubt("too-much", text)
            return Data(UNKNOWN)
        self.depth += 1
        fragment = self.fragment
        reader = Reader(self, text)
        value = reader.statements()
        self.fragment = fragment
        self.depth -= 1
        if self.steps <= 0:
            self.doubt("too-much", text)
        return value

    def code(self, value: Value) -> Value:
        """A text, or a block, is run as code."""
        if isinstance(value, Block):
            return self.run(value.text)
        data = text_of(value)
        if NETWORK in data.labels or DECODED in data.labels or ENVIRONMENT in data.labels:
            self.add(
                "run",
                "",
                Command("invoke-expression", ["invoke-expression"], cwd=self.cwd, fragment=self.fragment),
                labels=data.labels,
            )
        if data.text.replace(UNKNOWN, "").strip():
            if data.text.startswith(UNKNOWN):
                self.doubt("unknown-code", self.fragment, data.labels)
            return self.run(data.text)
        if data.text:
            self.doubt("unknown-code", self.fragment, data.labels)
        return Data(UNKNOWN, data.labels)

    def absolute(self, path: str) -> str:
        """Return the path as it is from the folder that the walk is in; of the registry and the like, as it is."""
        path = path.strip()
        if path.lower().startswith(("microsoft.powershell.core\\filesystem::", "filesystem::")):
            path = path.partition("::")[2]
        if not path or (path.startswith("~") and not self.home):
            return path.replace("\\", "/") or UNKNOWN
        if (
            path[:5].lower() in ("hklm:", "hkcu:", "hkcr:")
            or path[:4].lower() in ("env:", "reg:")
            or path.lower().startswith("registry::")
        ):
            return path
        if path.startswith("\\"):
            path = "C:" + path if not path.startswith("\\\\") else path
        return absolute(path, self.cwd, self.home)

    def call(self, words: list[Value], stdin: Value, *, piped: bool) -> Value:
        """Run a command with its words."""
        self.steps -= 1
        first = words[0]
        if isinstance(first, (Block, Object)):
            return self.code(first) if isinstance(first, Block) else Data(UNKNOWN, first.labels)
        data = text_of(first)
        name = data.text.strip()
        if not name:
            return None
        if UNKNOWN in name:
            self.doubt("unknown-program", self.fragment, data.labels)
            command = self.command(UNKNOWN, words, stdin)
            if NETWORK in data.labels:
                self.add("run", "", command, labels=data.labels)
            return Data(UNKNOWN, data.labels)
        lower = name.lower()
        if lower in self.aliases:
            return (
                self.call([Data(self.aliases[lower]), *words[1:]], stdin, piped=piped) if self.depth < DEEPEST else None
            )
        if self.running.count(lower) > _MOST_AGAIN and any(known(word) is None for word in words):
            self.has_cut = True  # nothing new is found in another call
            return Data(UNKNOWN)
        if lower in self.functions and self.depth < DEEPEST:
            block = self.functions[lower]
            self.variables["args"] = words[1:]
            for at, parameter in enumerate(_parameters(block.text)):
                if at + 1 < len(words):
                    self.variables[parameter] = words[at + 1]
            self.running.append(lower)
            value = self.run(block.text)
            self.running.pop()
            if self.has_cut and not self.running and any(effect.kind == "delete" for effect in self.effects):
                self.doubt("too-much", self.fragment)  # what is deleted may be anywhere
            return value
        base = lower.replace("\\", "/").rpartition("/")[2]
        for ending in (".exe", ".cmd", ".bat", ".com"):
            base = base.removesuffix(ending)
        cmdlet = ALIASES.get(base, base) if "/" not in lower.replace("\\", "/") else base
        if "." in base and "\\" in base:
            cmdlet = base.rpartition("\\")[2]
        if base in ALSO_PROGRAMS and (lower.endswith(".exe") or _is_program_call(words)):
            cmdlet = base
        from .cmdlets import HANDLERS

        handler = HANDLERS.get(cmdlet)
        if handler is not None:
            return handler(self, cmdlet, words, stdin)
        labels = self.file_labels(name)
        command = self.command(cmdlet, words, stdin)
        if NETWORK in labels:
            self.add("run", name, command, labels=labels)
        return Data(UNKNOWN, labels_of(stdin))

    def file_labels(self, path: str) -> frozenset[str]:
        """Where a file comes from that was written on the way."""
        data = self.kept(path)
        return data.labels if data is not None else NO_LABELS

    def command(self, program: str, words: list[Value], stdin: Value = None) -> Command:
        """Tell a command."""
        texts = [text_of(word) for word in words]
        argv = [program, *(text.text for text in texts[1:])]
        labels = {at: text.labels for at, text in enumerate(texts) if text.labels}
        command = Command(
            program,
            argv,
            labels,
            stdin=text_of(stdin) if stdin is not None else None,
            cwd=self.cwd,
            fragment=self.fragment,
            via=("powershell",),
        )
        self.commands.append(command)
        return command

    def bound(self, cmdlet: str, words: list[Value]) -> tuple[dict[str, Value], list[Value], Command]:
        """The parameters of a cmdlet by their full names, the words without one, and the command as it is told."""
        names = PARAMETERS.get(cmdlet, "").split()
        given: dict[str, Value] = {}
        free: list[Value] = []
        told: list[Value] = [Data(cmdlet)]
        at = 1
        while at < len(words):
            word = words[at]
            at += 1
            text = word.text if isinstance(word, Data) else ""
            if not (isinstance(word, Parameter)):
                free.append(word)
                told.append(word)
                continue
            name, colon, value = text[1:].partition(":")
            name = name.lower()
            full = next((known for known in names if known.startswith(name)), name) if name not in names else name
            told.append(Data("-" + full))
            if colon:
                following: Value = Data(value, word.labels) if value else words[at] if at < len(words) else None
                at += not value
                given[full] = following
                told.append(following)
            elif full in SWITCHES or (not names and (at >= len(words) or isinstance(words[at], Parameter))):
                given[full] = True
            elif at < len(words) and not isinstance(words[at], Parameter) and names:
                given[full] = words[at]
                told.append(words[at])
                at += 1
            else:
                given[full] = True
        command = self.command(cmdlet, [word for item in told for word in (item if isinstance(item, list) else [item])])
        return given, free, command


def _is_program_call(words: list[Value]) -> bool:
    """Whether the words are those of a program of Unix: `-rf`, `--force`."""
    for word in words[1:]:
        if isinstance(word, Parameter):
            text = word.text
            if (
                text.startswith("--")
                or (len(text) == 3 and text[1:].lower() in ("rf", "fr", "ri", "fi", "rv"))
                or text in ("-fsSL", "-sSL", "-fsS", "-sL", "-LO", "-O", "-9", "-p")
            ):
                return True
    return False


def _parameters(text: str) -> list[str]:
    """The names in a block's `param(…)`."""
    start = text.lower().find("param(")
    if start < 0 or start > 200:
        return []
    end = text.find(")", start)
    return [
        piece.split("=")[0].strip().lstrip("$").lower() for piece in text[start + 6 : end].split(",") if "$" in piece
    ]
