"""Scripts in languages with a grammar of their own: Tcl and AppleScript."""

from __future__ import annotations

from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data

from . import Found


def scan_plain(text: str, labels: frozenset[str], language: str) -> Found | None:
    """What a script in Tcl or AppleScript would do; None for other languages."""
    if language == "tcl":
        found = Found()
        _tcl(text, labels, found, {}, 0)
        return found
    if language in ("applescript", "osascript"):
        return _applescript(text, labels)
    return None


def _tcl(text: str, labels: frozenset[str], found: Found, variables: dict[str, str], depth: int) -> str:
    """Walk through a Tcl script; what its last command gives back."""
    if depth > 20 or len(text) > 100_000:
        found.doubts.append("the code is nested or longer than what is looked at")
        return UNKNOWN
    result = ""
    for words in _tcl_commands(text):
        texts = [_tcl_word(word, labels, found, variables, depth) for word in words]
        result = _tcl_command(texts, labels, found, variables, depth) if texts else result
    return result


def _tcl_commands(text: str) -> list[list[str]]:
    """The commands of a script as words, with their quotes and brackets."""
    commands: list[list[str]] = []
    words: list[str] = []
    at = 0
    size = len(text)
    while at < size:
        char = text[at]
        if (char.isspace() and char != "\n") or text.startswith("\\\n", at):
            at += 2 if char == "\\" else 1
        elif char in "\n;":
            if words:
                commands.append(words)
            words = []
            at += 1
        elif char == "#" and not words:
            end = text.find("\n", at)
            at = size if end < 0 else end
        else:
            start = at
            at = max(_tcl_end(text, at), at + 1)
            words.append(text[start:at])
    if words:
        commands.append(words)
    return commands[:2000]


def _tcl_end(text: str, at: int) -> int:
    """Behind the word at ``at``."""
    size = len(text)
    first = text[at]
    braces = brackets = 0
    quoted = first == '"'
    start = at
    while at < size:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if first == "{":
            braces += (char == "{") - (char == "}")
            at += 1
            if not braces:
                return at
            continue
        if char == "[":
            brackets += 1
        elif char == "]":
            brackets = max(0, brackets - 1)
        elif not brackets:
            if quoted and char == '"' and at > start:
                return at + 1
            if not quoted and (char.isspace() or char == ";"):
                return at
        at += 1
    return size


def _tcl_word(word: str, labels: frozenset[str], found: Found, variables: dict[str, str], depth: int) -> str:
    from .tokens import skip_balanced, unescape

    if word.startswith("{"):
        return word[1:-1] if word.endswith("}") and len(word) > 1 else word[1:]
    if word.startswith('"'):
        word = word[1:-1] if word.endswith('"') and len(word) > 1 else word[1:]
    out: list[str] = []
    at = start = 0
    size = len(word)
    while at < size and len(out) < 1000:
        char = word[at]
        if char == "\\":
            at += 2
        elif char == "[":
            out.append(unescape(word[start:at], "tcl"))
            end = skip_balanced(word, at, size)
            out.append(_tcl(word[at + 1 : end - 1], labels, found, variables, depth + 1))
            at = start = end
        elif char == "$" and at + 1 < size and (word[at + 1].isalpha() or word[at + 1] in "_{"):
            out.append(unescape(word[start:at], "tcl"))
            end = at + 1
            if word[end] == "{":
                end = skip_balanced(word, end, size)
                name = word[at + 2 : end - 1]
            else:
                while end < size and (word[end].isalnum() or word[end] in "_:"):
                    end += 1
                name = word[at + 1 : end]
                if end < size and word[end] == "(":
                    end = skip_balanced(word, end, size)
                    name = word[at + 1 : end]
            out.append("~" if name == "env(HOME)" else variables.get(name, UNKNOWN))
            at = start = end
        else:
            at += 1
    out.append(unescape(word[start:], "tcl"))
    return "".join(out)


def _tcl_command(words: list[str], labels: frozenset[str], found: Found, variables: dict[str, str], depth: int) -> str:
    name, rest = words[0].removeprefix("::"), words[1:]
    if name == "set" and rest:
        if len(rest) > 1:
            variables[rest[0]] = rest[1]
        return variables.get(rest[0], UNKNOWN)
    if name == "append" and rest:
        variables[rest[0]] = variables.get(rest[0], "") + "".join(rest[1:])
        return variables[rest[0]]
    if name == "exec":
        return _tcl_exec(rest, labels, found)
    if name == "open" and rest:
        if rest[0].lstrip().startswith("|"):
            return _tcl_exec(rest[0].lstrip()[1:].split(), labels, found)
        mode = rest[1] if len(rest) > 1 else "r"
        kind = "write" if any(letter in mode for letter in "wa+W") else "read"
        found.effects.append((kind, rest[0], False, NO_LABELS, "append" if mode.startswith("a") else ""))
        return UNKNOWN
    if name == "file" and len(rest) > 1:
        paths = [word for word in rest[1:] if word not in ("-force", "--")]
        if rest[0] == "delete":
            found.effects.extend(("delete", path, "-force" in rest, NO_LABELS, "") for path in paths)
        elif rest[0] in ("rename", "copy") and len(paths) > 1:
            if rest[0] == "rename":
                found.effects.append(("delete", paths[0], False, NO_LABELS, ""))
            found.effects.append(("write", paths[-1], False, NO_LABELS, ""))
        elif rest[0] in ("join", "normalize", "nativename"):
            return "/".join(paths)
        return UNKNOWN
    if name in ("eval", "uplevel", "subst", "catch", "time", "try", "after", "namespace"):
        body = " ".join(rest) if name in ("eval", "uplevel") else rest[-1] if rest else ""
        if UNKNOWN in body and name in ("eval", "uplevel"):
            found.doubts.append("a text that is not known is run as code")
        return _tcl(body, labels, found, variables, depth + 1)
    if name in ("if", "while", "for", "foreach", "proc", "switch", "else", "elseif"):
        for body in rest[1:]:
            if any(char in body for char in " [\n;"):
                _tcl(body, labels, found, variables, depth + 1)
        return UNKNOWN
    if name == "source" and rest:
        found.effects.append(("run", rest[0], False, labels, ""))
        return UNKNOWN
    if name == "socket" and len(rest) > 1:
        found.effects.append(("receive", ":".join(rest[-2:]), False, NO_LABELS, ""))
        return UNKNOWN
    if name == "http::geturl" and rest:
        found.effects.append(("send" if "-query" in rest else "receive", rest[0], False, NO_LABELS, ""))
        return UNKNOWN
    if name == "string" and len(rest) > 1 and rest[0] == "reverse":
        return rest[1][::-1]
    if name in ("join", "concat", "list"):
        return " ".join(rest) if name != "join" else rest[0].replace(" ", rest[1] if len(rest) > 1 else " ")
    if name in ("spawn", "send") and rest:  # expect
        if name == "spawn":
            found.programs.append([word for word in rest if word != "-noecho"])
        return UNKNOWN
    if UNKNOWN in name:
        found.doubts.append("something that is not known is called")
    return UNKNOWN


def _tcl_exec(words: list[str], labels: frozenset[str], found: Found) -> str:
    """`exec a | b > file`: programs in a row, without a shell."""
    while words and words[0] in ("-ignorestderr", "-keepnewline", "--"):
        words = words[1:]
    argv: list[str] = []
    for at, word in enumerate([*words, "|"], 1):
        if word in ("|", "|&", "&"):
            if argv:
                found.programs.append(argv)
            argv = []
        elif word in (">", ">>", ">&", "2>") and at < len(words):
            found.effects.append(("write", words[at], False, labels, "append" if word == ">>" else ""))
            argv.append(word)
        else:
            argv.append(word)
    for program in found.programs:
        while len(program) > 1 and program[-2] in (">", ">>", ">&", "2>", "<", "<<"):
            del program[-2:]
    return UNKNOWN


def _applescript(text: str, labels: frozenset[str]) -> Found:
    """`do shell script "…"`, with texts that are joined by `&`; other applications that are told something."""
    found = Found()
    lower = text.lower()
    variables: dict[str, str] = {}
    for line in text.replace("\u00ac\n", " ").split("\n")[:2000]:
        words = line.strip().split(None, 3)
        if len(words) == 4 and words[0].lower() == "set" and words[2].lower() == "to":
            variables[words[1]] = _applescript_text(words[3], variables)
    at = 0
    while True:
        at = lower.find("do shell script", at)
        if at < 0:
            break
        at += 15
        if lower.count('"', 0, at) % 2:  # inside of a text
            continue
        found.shells.append(Data(_applescript_text(text[at:], variables), labels))
    at = 0
    while True:
        at = lower.find("do script", at)
        if at < 0:
            break
        at += 9
        if not lower.count('"', 0, at) % 2:
            found.shells.append(Data(_applescript_text(text[at:], variables), labels))
    if "run script" in lower:
        inner = _applescript_text(text[lower.find("run script") + 10 :], variables)
        if UNKNOWN in inner:
            found.doubts.append("a text that is not known is run as code")
        else:
            found.codes.append(("applescript", Data(inner, labels)))
    for verb in ("shut down", "restart", "log out", "empty trash", "empty the trash"):
        if verb in lower and lower.count('"', 0, lower.find(verb)) % 2 == 0:
            found.programs.append(["osascript", verb.replace("empty the", "empty")])
    if "open location" in lower:
        found.effects.append(
            (
                "receive",
                _applescript_text(text[lower.find("open location") + 13 :], variables),
                False,
                frozenset((NETWORK,)),
                "",
            )
        )
    return found


def _applescript_text(text: str, variables: dict[str, str]) -> str:
    """The text that an expression of strings, names and `&` makes."""
    out: list[str] = []
    at = 0
    size = len(text)
    joined = True
    while at < size and len(out) < 500:
        char = text[at]
        if char in " \t()":
            at += 1
        elif char == "&":
            joined = True
            at += 1
        elif not joined:
            break
        elif char == '"':
            end = at + 1
            while end < size and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[at + 1 : end].replace('\\"', '"').replace("\\\\", "\\"))
            at = end + 1
            joined = False
        elif char.isalpha() or char == UNKNOWN:
            end = at + 1
            while end < size and (text[end].isalnum() or text[end] == "_"):
                end += 1
            word = text[at:end]
            at = end
            if word.lower() not in ("quoted", "form", "of", "the"):
                out.append(variables.get(word, UNKNOWN))
                joined = False
        else:
            break
    return "".join(out)
