"""Effects of a script's calls: collecting them, and reading the arguments of a call."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import CREDENTIAL, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import as_login, in_address, in_token_request, is_login_header

from . import FILE, Found
from .literals import joined
from .script_source import Call, Slice

if TYPE_CHECKING:
    from .script_values import Script

_SHELLS = frozenset("sh bash zsh dash ksh ash fish cmd cmd.exe powershell powershell.exe pwsh".split())
_INTERACTIVE = frozenset("-i -l -p -il -li - -s 0 1 2".split())
_NETWORK = frozenset((NETWORK,))
_TELLING = (FILE, "secret", ENVIRONMENT, CREDENTIAL, "login:")
# Effects whose path is no file.
_ELSEWHERE = frozenset(("send", "receive", "run", "fork"))


class Effects:
    """The effects that are found in a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.language = script.language
        self.own = script.context.labels
        self.found = Found()
        self.kinds = {at: kind for at, call in script.calls.items() if (kind := script.kind_of(call))}
        self.is_online = not {"socket", "get", "post"}.isdisjoint(self.kinds.values())
        self.at = 0  # of the current call
        self.folders: list[tuple[int, int, str]] = []  # from where to where the code works in a folder

    def doubt(self, why: str) -> None:
        """Note something that could not be analysed."""
        if why not in self.found.doubts:
            self.found.doubts.append(why)

    @property
    def folder(self) -> str:
        """The folder that the code changed to before the current call."""
        return next((path for start, stop, path in reversed(self.folders) if start < self.at < stop), "")

    def effect(
        self, kind: str, path: Data, *, recursive: bool = False, labels: frozenset[str] = NO_LABELS, method: str = ""
    ) -> None:
        """Add an effect on a file or a host."""
        text = path.text if kind in _ELSEWHERE else file_of_address(path.text) or path.text
        if self.folder and kind not in _ELSEWHERE and not text.startswith(("/", "~")):
            text = f"{self.folder.rstrip('/')}/{text}"
        made = (kind, text, recursive, labels, method)
        if made not in self.found.effects:
            self.found.effects.append(made)

    def shell(self, data: Data) -> None:
        """Add a command line."""
        text = f"cd {quote(self.folder)}\n{data.text}" if self.folder else data.text
        made = Data(text, data.labels | self.own)
        self._bare_shell(data.text.split(), data.labels)
        if made not in self.found.shells:
            self.found.shells.append(made)

    def program(self, words: list[Data]) -> None:
        """Add a program that is started without a shell."""
        if not words:
            return
        self._bare_shell([word.text for word in words], NO_LABELS)
        if self.folder:
            words = [Data("env"), Data("-C"), Data(self.folder), *words]
        argv = [word.text for word in words]
        if argv in self.found.programs:
            return
        for position, word in enumerate(words):
            if word.labels | self.own:
                self.found.origins[len(self.found.programs), position] = word.labels | self.own
        self.found.programs.append(argv)

    def _bare_shell(self, words: list[str], labels: frozenset[str]) -> None:
        """Note a shell that takes its commands from the code, or from a connection."""
        while words and words[0] in ("exec", "env"):
            words = words[1:]
        redirected = [word for word in words if "<&" not in word and ">&" not in word]
        if not redirected or redirected[0].rpartition("/")[2] not in _SHELLS:
            return
        if _INTERACTIVE.issuperset(redirected[1:]):
            if self.is_online or NETWORK in labels:
                self.effect("run", Data("/bin/sh"), labels=_NETWORK)
            else:
                self.doubt("a shell is given commands that are not known")

    def texts(self, call: Call, index: int = 0) -> list[Data]:
        """The values of an argument."""
        if index < len(call.arguments):
            return self.script.texts(call.arguments[index])
        if not index and self.language == "perl":
            return [self.script.text_of(value) for value in self.script.lookup("$_", call.at)]
        return []

    def plain(self, call: Call) -> list[Slice]:
        """The arguments that are neither options nor functions."""
        script = self.script
        return [
            part
            for part in call.arguments
            if script.text(part[0]) not in ("{", "function", "sub", "async")
            and not any(
                script.text(at) == "=>"
                or (script.text(at) == ":" and script.kind(at - 1) == "name" and self.language == "ruby")
                for at in range(*part)
                if script.tokens[at].close < 0
            )
        ]

    def option(self, call: Call, *names: str) -> Slice | None:
        """The value of an option in a table among the arguments."""
        script = self.script
        marks = (":", "=>", "=", ",") if self.language == "perl" else (":", "=>", "=")
        first = call.arguments[0][0] if call.arguments else 0
        for at in range(first, call.arguments[-1][1] - 1 if call.arguments else 0):
            if script.tokens[at].text in names and script.text(at + 1) in marks:
                return at + 2, script.stop_of(at + 2)
        return None

    def is_set(self, call: Call, name: str) -> bool:
        """Whether an option is set."""
        part = self.option(call, name)
        return part is not None and self.script.text(part[0]) not in ("false", "False", "nil", "null")


class Requests(Effects):
    """The effects of a script on other hosts."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.addresses: list[str] = []  # of open connections

    def request(self, call: Call, method: str = "GET") -> None:
        """Receive a page, or send something: a body, or anything of this machine in the address or the headers."""
        script = self.script
        given = self.option(call, "method", "type")
        method = script.texts(given)[0].text.upper() if given is not None else method
        addresses = self._addresses(call.arguments[0]) if call.arguments else []
        for name in ("proxy", "baseURL"):
            part = self.option(call, name)
            if part is not None:
                for data in self._addresses(part):
                    self.effect("receive", data)
        body = self.option(call, "body", "data", "content", "form", "json", "Content", "payload", "formData")
        labels = self._sent(call, addresses[0] if addresses else Data())
        sends = body is not None or method in ("POST", "PUT", "PATCH", "DELETE") or _tells(labels)
        for address in addresses:
            if address.text.startswith("file:"):
                self.effect("read", address)
                continue
            words = [token.text for part in call.arguments for token in script.tokens[slice(*part)]]
            carried = in_token_request(address.text, words, labels)
            self.effect(
                "send" if sends else "receive",
                Data(address.text),
                labels=carried if sends else NO_LABELS,
                method="" if UNKNOWN in method else method,
            )
            self.addresses.append(address.text)

    def post(self, call: Call) -> None:
        """A request with a body."""
        self.request(call, "POST")

    def request_delete(self, call: Call) -> None:
        """A request with the method DELETE."""
        self.request(call, "DELETE")

    def _addresses(self, part: Slice) -> list[Data]:
        """The address that a URL or a table of options names."""
        if self.script.text(part[0]) != "{":
            return [data for data in self.script.texts(part) if data.text not in ("false", "null")]
        found = self.option(Call("", "", 0, 0, 0, [part]), "url", "uri", "href", "hostname", "host")
        return self.script.texts(found) if found is not None else [Data(UNKNOWN)]

    def _sent(self, call: Call, address: Data) -> frozenset[str]:
        """The labels of everything that a request sends: a credential in a header logs in."""
        script = self.script
        labels = in_address(address.text, address.labels)
        headers = self.option(call, "headers", "cookies")
        is_table = bool(call.arguments) and script.text(call.arguments[0][0]) == "{"
        for part in call.arguments if is_table else call.arguments[1:]:
            if any(script.text(at) in ("=>", "function") for at in range(*part)) and self.language == "node":
                continue
            for start, stop in script.split(part[0] + 1, part[1] - 1) if script.text(part[0]) == "{" else [part]:
                if headers is not None and start <= headers[0] < stop:
                    labels |= self._headers(headers)
                else:
                    labels |= script.labels(start, stop)
        return labels - _NETWORK

    def _headers(self, part: Slice) -> frozenset[str]:
        script = self.script
        labels = NO_LABELS
        for start, stop in script.split(part[0] + 1, part[1] - 1):
            found = script.labels(start + 1, stop)
            labels |= as_login(found) if is_login_header(script.tokens[start].text) else found
        return labels

    def socket(self, call: Call) -> None:
        """A connection to a host and port."""
        part = self.option(call, "PeerAddr", "PeerHost", "host", "hostname")
        if part is not None:
            port = self.option(call, "PeerPort", "port")
            ports = [":" + data.text for data in self.script.texts(port)[:1]] if port else []
            hosts = [Data(data.text + "".join(ports), data.labels) for data in self.script.texts(part)]
        else:
            words = [self.script.texts(each)[0] for each in self.plain(call)[:2]]
            words.sort(key=lambda word: word.text.isdecimal())
            hosts = [joined(words, ":")] if words else []
        for host in hosts:
            self.effect("receive", Data(host.text))
            self.addresses.append(host.text)

    def send_on(self, call: Call) -> None:
        """Data for an open connection, whichever it is."""
        labels = NO_LABELS.union(*(self.script.labels(*part) for part in call.arguments)) - _NETWORK
        if _tells(labels):
            for address in self.addresses or [UNKNOWN]:
                self.effect("send", Data(address), labels=labels)


def _tells(labels: frozenset[str]) -> bool:
    """Whether something of this machine is among what the labels are of."""
    return any(label.startswith(_TELLING) for label in labels)
