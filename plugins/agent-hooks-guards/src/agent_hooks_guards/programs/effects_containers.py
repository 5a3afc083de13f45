"""What containers are given of the files of this machine."""

from __future__ import annotations

from agent_hooks_guards.model.values import REMOTE, UNKNOWN

from .credentials import as_login, is_carried
from .effects_network import arrives
from .noting import is_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .noting import Noting


_COMES = frozenset((REMOTE,))


def _copied(noting: Noting) -> None:
    """``cp``: one side of it is in the container."""
    words = noting.operands()
    for word in words[:1]:
        if not is_remote(word):
            noting.file("read", word, recursive=True)
    for word in words[1:2]:
        if not is_remote(word):
            arrives(noting, words[0], word, _COMES, recursive=True)


def _docker(noting: Noting) -> None:
    """Files that a container copies or is given; a mounted one is its to write, with all that is in it."""
    options = noting.options
    if options.subcommand[-1:] == ("login",):
        labels = as_login(noting.command.labels_of() | noting.input_labels)
        if is_carried(labels):
            noting.send((noting.operands() or ["docker.io"])[0], labels=labels)
        return
    if options.subcommand[-1:] == ("cp",):
        _copied(noting)
        return
    if options.subcommand[-1:] == ("save",) or options.subcommand[-1:] == ("export",):
        for value, _ in options.values("-o|--output"):
            noting.file("write", value)
    elif options.subcommand[-1:] in (("run",), ("create",)):
        for value, _ in options.values("-v|--volume"):
            source, colon, rest = value.partition(":")
            if colon:
                _mount(noting, source, is_readonly="ro" in rest.rpartition(":")[2].split(","))
        for value, _ in options.values("--mount"):
            fields = dict(part.partition("=")[::2] for part in value.split(","))
            source = fields.get("source") or fields.get("src") or ""
            if fields.get("type", "volume") == "bind":
                is_readonly = any(fields.get(name, "false") != "false" for name in ("readonly", "ro"))
                _mount(noting, source, is_readonly=is_readonly)
        for value, _ in options.values("--device"):
            noting.file("write", value.partition(":")[0])


def _mount(noting: Noting, source: str, *, is_readonly: bool) -> None:
    # A name without a slash is a volume of the engine's own.
    if source.startswith(("/", ".", "~", UNKNOWN)) or source[1:2] == ":":
        noting.file("read" if is_readonly else "write", source, recursive=True)


def _kubectl(noting: Noting) -> None:
    if noting.options.subcommand[:1] == ("cp",):
        _copied(noting)
    for value, _ in noting.options.values("-f|--filename|--from-file"):
        if "://" not in value:
            noting.file("read", value.rpartition("=")[2])


CONTAINERS: dict[str, Callable[[Noting], None]] = {
    **dict.fromkeys("docker podman nerdctl".split(), _docker),
    **dict.fromkeys("kubectl oc".split(), _kubectl),
}
