"""What a command of Windows' cmd would do: its own quotes, carets and variables, its built-in commands."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command, Doubt, Effect
from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.paths import absolute

from .walking import WindowsWalk, settled

_MOST_COMMANDS = 2_000
_DEEPEST = 20
_LONGEST = 200_000
_LONGEST_LINE = 8191  # of what cmd takes
_NETWORK = frozenset((NETWORK,))

_NAMES = {"rd": "rmdir", "erase": "del", "md": "mkdir", "ren": "rename", "chdir": "cd"}
# Commands whose switches stand against their name or against each other: `rd/s/q`, `cd\`.
BUILT_IN = frozenset(
    (
        "del erase rd rmdir md mkdir copy move ren rename type echo cd chdir dir set call start if for mklink "
        "assoc ftype pushd popd cls exit pause title ver vol path prompt"
    ).split()
)
_FOLDERS = {
    "userprofile": "~",
    "homepath": "~",
    "home": "~",
    "systemroot": "C:\\Windows",
    "windir": "C:\\Windows",
    "systemdrive": "C:",
    "homedrive": "C:",
    "programfiles": "C:\\Program Files",
    "programfiles(x86)": "C:\\Program Files (x86)",
    "programdata": "C:\\ProgramData",
    "public": "C:\\Users\\Public",
    "appdata": "~\\AppData\\Roaming",
    "localappdata": "~\\AppData\\Local",
    "temp": "~\\AppData\\Local\\Temp",
    "tmp": "~\\AppData\\Local\\Temp",
    "comspec": "C:\\Windows\\system32\\cmd.exe",
}


def analyse_cmd(
    text: str, place_cwd: str, home: str = "", depth: int = 0
) -> tuple[list[Command], list[Effect], list[Doubt]]:
    """Return what cmd's ``text`` would do in ``place_cwd``: commands by their names in lower case and without ``.exe``,
    effects and doubts. ``home``: what ``~`` stands for, "" if that is not known; ``depth``: inside of how many others.
    Programs that are not cmd's own are only told: what they run in turn is for the caller. Never raises.
    """
    walk = CmdWalk(place_cwd, home, depth)
    try:
        walk.run(text)
    except RecursionError:
        walk.doubt("too-much", text)
    return walk.commands, settled(walk.effects, place_cwd, home), walk.doubts


class CmdWalk(WindowsWalk):
    """One walk through a text of cmd. ``depth``: how many are around it."""

    def __init__(self, cwd: str, home: str, depth: int) -> None:
        super().__init__(cwd, home)
        self.depth = depth
        self.variables: dict[str, str] = {}
        self.steps = _MOST_COMMANDS

    def absolute(self, path: str) -> str:
        """Return the path as it is from the folder that the walk is in."""
        if not path or (path.startswith("~") and not self.home):
            return path.replace("\\", "/") or UNKNOWN
        if path.startswith("\\") and not path.startswith("\\\\"):
            path = "C:" + path
        return absolute(path, self.cwd, self.home)

    def run(self, text: str) -> None:
        """Walk through one or several lines."""
        if self.depth > _DEEPEST or len(text) > _LONGEST:
            self.doubt("too-much", text)
            return
        self.depth += 1
        printed: Data | None = None
        for line in text.replace("\r\n", "\n").replace("^\n", "").split("\n"):
            if len(line) > _LONGEST_LINE:
                self.doubt("too-much", line)
                continue
            for operator, part in _parts(line):
                self.steps -= 1
                if self.steps <= 0:
                    self.doubt("too-much", text)
                    break
                printed = self.command(part.strip(), printed if operator == "|" else None)
        self.depth -= 1

    def expand(self, text: str) -> str:
        """``text`` with its `%NAME%` and `!NAME!`."""
        for mark in "%!":
            if mark not in text:
                continue
            out: list[str] = []
            at = 0
            while True:
                start = text.find(mark, at)
                end = text.find(mark, start + 1) if start >= 0 else -1
                if start < 0:
                    break
                if (
                    mark == "%"
                    and text[start + 1 : start + 2] in tuple("0123456789*~%")
                    and text[start + 1 : start + 2]
                ):
                    out.append(text[at:start] + UNKNOWN)
                    at = start + 2
                    continue
                name = text[start + 1 : end]
                if end < 0 or not name or any(char.isspace() for char in name.partition(":")[0]):
                    # `%i` of a for loop
                    if mark == "%" and text[start + 1 : start + 2].isalpha():
                        out.append(text[at:start] + self.variables.get("%" + text[start + 1].lower(), UNKNOWN))
                        at = start + 2
                        continue
                    out.append(text[at : start + 1])
                    at = start + 1
                    continue
                out.append(text[at:start] + self.variable(name))
                at = end + 1
            text = "".join(out) + text[at:]
        return text

    def variable(self, name: str) -> str:
        """Return what ``%name%`` is."""
        name, colon, change = name.partition(":")
        value = self.variables.get(name.lower(), _FOLDERS.get(name.lower(), UNKNOWN))
        if not colon or UNKNOWN in value:
            return value
        if change.startswith("~"):
            start, _comma, many = change[1:].partition(",")
            try:
                first = int(start or 0)
                piece = (
                    value[first:]
                    if not _comma
                    else value[first:][: int(many)]
                    if int(many) >= 0
                    else value[first : int(many)]
                )
            except ValueError:
                return UNKNOWN
            return piece
        old, _equals, new = change.partition("=")
        return value.replace(old, new) if old else value

    def command(self, text: str, stdin: Data | None) -> Data | None:
        """One command; what it prints."""
        text = text.strip("@ \t")
        while text.startswith("("):
            text = text[1:].removesuffix(")").strip("@ \t")
        if not text or text.startswith(("::", ":")) or text[:4].lower() in ("rem", "rem "):
            return None
        lower = text.lower()
        if lower.startswith("if "):
            return self.condition(text)
        if lower.startswith("for "):
            return self.loop(text)
        if lower.startswith(("set ", "set/")):
            return self.set(text[4:])
        expanded = self.expand(text)
        words, targets = _words(expanded)
        if not words:
            return None
        words = _apart(words)
        name = words[0].lower().replace("\\", "/").rpartition("/")[2]
        for ending in (".exe", ".com", ".bat", ".cmd"):
            name = name.removesuffix(ending)
        name = _NAMES.get(name, name)
        if name == "call" and len(words) > 1 and self.depth < _DEEPEST:
            self.run(expanded[expanded.lower().find("call") + 4 :])
            return None
        command = Command(
            UNKNOWN if UNKNOWN in name else name,
            [name, *words[1:]],
            stdin=stdin,
            cwd=self.cwd,
            fragment=text,
            via=("cmd",),
        )
        self.commands.append(command)
        if UNKNOWN in name:
            self.doubt("unknown-program", text)
        printed = self.known_command(command, name, expanded, stdin)
        for operator, target in targets:
            if target.lower() in ("nul", "con", "nul:") or target.startswith("&"):
                continue
            if operator == "<":
                self.add("read", target, command)
            else:
                self.add(
                    "write",
                    target,
                    command,
                    append=operator == ">>",
                    labels=printed.labels if printed is not None else NO_LABELS,
                )
                self.keep(target, printed if printed is not None else Data(UNKNOWN))
        return printed if printed is not None else Data(UNKNOWN)

    def condition(self, text: str) -> Data | None:
        """`if [not] exist x command`, `if a==b (command) else command`."""
        words = text.split()
        at = 1
        while at < len(words) and words[at].lower() in ("not", "/i"):
            at += 1
        if at < len(words) and words[at].lower() in ("exist", "defined", "errorlevel"):
            at += 2
        elif at < len(words):
            at += (
                1
                if "==" in words[at] and not words[at].endswith("==")
                else 2
                if "==" in " ".join(words[at : at + 2])
                else 3
            )
        rest = " ".join(words[at:])
        for piece in rest.replace(") else (", "\n").replace(") ELSE (", "\n").replace(" else ", "\n").split("\n"):
            if self.depth < _DEEPEST:
                self.run(piece.strip().strip("()"))
        return None

    def loop(self, text: str) -> Data | None:
        """`for %i in (a b) do command`."""
        lower = text.lower()
        do = lower.find(") do ")
        opening = text.find("(")
        if do < 0 or opening < 0 or self.depth >= _DEEPEST:
            return None
        mark = text.find("%")
        mark += text[mark + 1 : mark + 2] == "%"
        name = "%" + text[mark + 1 : mark + 2].lower() if mark >= 0 else "%?"
        inside = self.expand(text[opening + 1 : do])
        switches = lower[:opening]
        body = text[do + 5 :].strip().replace("%%", "%")
        items: list[str]
        if "/f" in switches:
            quoted = inside.strip()
            if quoted.startswith(("'", "`")):
                self.run(quoted.strip("'`"))
                items = [UNKNOWN]
            else:
                items = [quoted.strip('"')] if quoted.startswith('"') else [UNKNOWN]
        elif "/l" in switches:
            items = [UNKNOWN]
        elif "/r" in switches or "/d" in switches:
            folder = text[mark - 1 - switches[::-1].find("r/") : mark].strip() if "/r" in switches else ""
            items = [(folder + "\\" if folder and "\\" in folder else "") + inside.strip()]
        else:
            items = inside.replace(",", " ").split()[:50]
        for item in items:
            self.variables[name] = item
            self.run(body.strip("()") if body.startswith("(") else body)
        return None

    def set(self, rest: str) -> Data | None:
        """``set name=value``."""
        rest = rest.strip()
        while rest.startswith("/"):
            if rest[:2].lower() in ("/p", "/a"):
                name = rest[2:].strip().strip('"').partition("=")[0].strip().lower()
                self.variables[name] = UNKNOWN
                return None
            rest = rest[2:].strip()
        if rest.startswith('"') and rest.endswith('"'):
            rest = rest[1:-1]
        name, equals, value = self.expand(rest).partition("=")
        if equals:
            self.variables[name.strip().lower()] = _without_carets(value)
        return None

    def known_command(self, command: Command, name: str, text: str, stdin: Data | None) -> Data | None:
        """What the commands of cmd itself, and of Windows, do."""
        words = command.argv[1:]
        switches = "".join(word.lower() for word in words if word.startswith("/"))
        operands = [word for word in words if not word.startswith("/")]
        if name in {"rmdir", "del"}:
            for path in operands:
                self.add("delete", path, command, recursive="/s" in switches)
        elif name in ("copy", "xcopy", "robocopy", "move", "rename", "replace"):
            self.copy(command, name, operands, switches)
        elif name == "type":
            for path in operands:
                self.add("read", path, command)
            written = self.kept(operands[0]) if operands else None
            return written or Data(UNKNOWN, frozenset("file:" + self.absolute(path) for path in operands))
        elif name == "echo":
            return Data(" ".join(_words(text.partition(" ")[2])[0]))
        elif name in ("cd", "pushd") and operands:
            self.cwd = self.absolute(operands[0])
        elif name == "start":
            rest = [word for word in _without_title(text) if word]
            if rest and self.depth < _DEEPEST:
                self.run(" ".join(f'"{word}"' if " " in word else word for word in rest))
        elif name == "cmd":
            at = next((position for position, word in enumerate(words) if word.lower()[:2] in ("/c", "/k", "/r")), -1)
            if at >= 0:
                code = " ".join([words[at][2:], *words[at + 1 :]]).strip()
                if code.replace(UNKNOWN, "").strip():
                    self.run(code)
                else:
                    self.doubt("unknown-code", text)
            elif stdin is not None:
                if UNKNOWN in stdin.text:
                    self.doubt("unknown-code", text)
                    if stdin.labels:
                        self.add("run", "", command, labels=stdin.labels)
                else:
                    self.run(stdin.text)
        elif name in ("powershell", "pwsh"):
            self.powershell(words, stdin)
        elif name in ("curl", "wget"):
            self.download(command, words, stdin)
            return Data(UNKNOWN, _NETWORK)
        else:
            from .cmdlets import run_downloaded

            run_downloaded(self, command)
            path = _words(text)[0][0]
            written = self.kept(path)
            if written is not None and written.labels:
                self.add("run", path, command, labels=written.labels)
        return None

    def copy(self, command: Command, name: str, operands: list[str], switches: str) -> None:
        """``copy``, ``xcopy``, ``move`` and ``robocopy``."""
        if len(operands) < 2:
            return
        sources, target = operands[:1], operands[1]
        if name == "robocopy" and ("/mir" in switches or "/purge" in switches):
            self.add("delete", target, command, recursive=True)
        for source in sources:
            self.add("delete" if name in ("move", "rename") or "/mov" in switches else "read", source, command)
            data = self.kept(source)
            self.add("write", target, command, labels=data.labels if data is not None else NO_LABELS)
            if data is not None:
                self.keep(target, data)

    def download(self, command: Command, words: list[str], stdin: Data | None) -> None:
        """``certutil -urlcache``, ``bitsadmin`` and their like."""
        labels = stdin.labels if stdin is not None else NO_LABELS
        sends = False
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else ""
            if word in ("-d", "--data", "--data-binary", "-F", "--form", "-T", "--upload-file"):
                sends = True
                _field, mark, path = following.partition("@")
                path = path if mark else following if word in ("-T", "--upload-file") else ""
                if path and path != "-":
                    self.add("read", path, command)
                    labels |= {"file:" + self.absolute(path)}
            elif word in ("-o", "--output", "-O") and following and "://" not in following:
                self.add("write", following, command, labels=_NETWORK)
                self.keep(following, Data(UNKNOWN, _NETWORK))
        for word in words:
            if "://" in word:
                self.add("send" if sends else "receive", word, command, labels=labels if sends else NO_LABELS)

    def powershell(self, words: list[str], stdin: Data | None) -> None:
        """PowerShell that cmd starts."""
        from .powershell import Walk
        from .powershell_values import Parameter

        walk = Walk(self.cwd, self.home)
        walk.depth = self.depth
        walk.files = self.files
        walk.fragment = " ".join(words)
        argv: list[object] = [
            Data("powershell"),
            *(Parameter(word) if word.startswith("-") else Data(word) for word in words),
        ]
        walk.call(argv, stdin, piped=stdin is not None)
        self.commands += walk.commands[1:]
        self.effects += walk.effects
        self.doubts += walk.doubts


def _parts(line: str) -> list[tuple[str, str]]:
    """The commands of a line, each with the operator before it: `&`, `&&`, `||`, `|` or ""."""
    parts: list[tuple[str, str]] = []
    operator = ""
    start = at = 0
    depth = 0
    quoted = False
    size = len(line)
    leading = line.lstrip("@ \t").lower()
    keeps_brackets = leading.startswith(("for ", "if "))
    while at < size:
        char = line[at]
        if char == '"':
            quoted = not quoted
        elif quoted:
            pass
        elif char == "^":
            at += 1
        elif char == "(" and keeps_brackets:
            depth += 1
        elif char == ")" and keeps_brackets:
            depth -= 1
        elif char in "&|" and depth <= 0:
            # `2>&1` and `>&2` are redirections.
            if char == "&" and at and line[at - 1] in "<>":
                at += 1
                continue
            parts.append((operator, line[start:at]))
            operator = char * 2 if line[at + 1 : at + 2] == char else char
            at += len(operator)
            start = at
            keeps_brackets = line[at:].lstrip("@ \t(").lower().startswith(("for ", "if "))
            continue
        at += 1
    parts.append((operator, line[start:]))
    return [
        (
            operator,
            part.strip().rstrip(")")
            if not part.lstrip().lower().startswith(("for ", "if ")) and part.count(")") > part.count("(")
            else part,
        )
        for operator, part in parts
    ]


def _words(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The words of a command without quotes and carets, and its redirections."""
    words: list[str] = []
    targets: list[tuple[str, str]] = []
    waiting = ""
    word: list[str] = []
    started = quoted = False
    at = 0
    size = len(text)

    def finish() -> None:
        nonlocal started, waiting
        if started:
            if waiting:
                targets.append((waiting, "".join(word)))
                waiting = ""
            else:
                words.append("".join(word))
        word.clear()
        started = False

    while at < size:
        char = text[at]
        if char == '"':
            quoted = not quoted
            started = True
        elif quoted:
            word.append(char)
        elif char == "^" and at + 1 < size:
            at += 1
            word.append(text[at])
            started = True
        elif char in " \t,;=" and not (char == "=" and started):
            finish()
        elif char in "<>":
            if started and len(word) == 1 and word[0] in "012":
                word.clear()
                started = False
            finish()
            waiting = char
            if text[at + 1 : at + 2] == ">":
                waiting = ">>"
                at += 1
            if text[at + 1 : at + 2] == "&":
                waiting = ""
                at += 2
        else:
            word.append(char)
            started = True
        at += 1
    finish()
    return words, targets


def _apart(words: list[str]) -> list[str]:
    """Switches that stand against the command's name or against each other, each as a word: `rd/s/q`."""
    first = words[0]
    lower = first.lower()
    out = [first]
    for name in BUILT_IN:
        if lower.startswith(name) and lower[len(name) : len(name) + 1] in ("/", "\\", "."):
            out = [first[: len(name)]]
            rest = first[len(name) :]
            out.extend(["/" + piece for piece in rest.split("/")[1:]] if rest.startswith("/") else [rest])
            break
    if out[0].lower() not in BUILT_IN:
        return [*out, *words[1:]]
    for word in words[1:]:
        if word.startswith("/") and word.count("/") > 1 and all(len(piece) <= 6 for piece in word.split("/")):
            out.extend("/" + piece for piece in word.split("/")[1:])
        else:
            out.append(word)
    return out


def _without_title(text: str) -> list[str]:
    """The program that `start` runs, and its words: without the title and the switches."""
    rest = text.strip()[5:].lstrip()
    if rest.startswith('"'):
        end = rest.find('"', 1)
        after = rest[end + 1 :].strip() if end > 0 else ""
        if after:
            rest = after
    words = _words(rest)[0]
    while words and words[0].startswith("/"):
        switch = words.pop(0).lower()
        if switch == "/d" and words:
            words.pop(0)
    return words


def _without_carets(text: str) -> str:
    return text.replace("^^", "\0").replace("^", "").replace("\0", "^")
