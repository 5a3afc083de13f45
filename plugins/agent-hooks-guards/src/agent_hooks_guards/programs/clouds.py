"""``aws``, ``az``, ``gcloud``, ``gsutil``, ``gh``: copies to and from services, and commands run there."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from .http import Request
from .noting import COMES, PRIVATE
from .transfers import arrive, transfer
from .unwrapping import joined, part, shell, split, texts, values_as_shell, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

_COPIES = frozenset("cp mv sync put get rsync copy move".split())


def _objects(noting: Noting) -> None:
    """Clients of object stores: URLs name objects, paths name files."""
    options = noting.options
    for value in noting.values("--endpoint-url"):
        noting.receive(value)
    action = options.subcommand[-1] if options.subcommand else ""
    words = noting.operands()
    if not action and words:
        action = words.pop(0)
    name = f"s3://{options.value('--bucket') or UNKNOWN}/{options.value('--key') or ''}"
    if action in ("put-object", "upload-part"):
        noting.send(name, sources=noting.values("--body"))
    elif action == "get-object":
        noting.receive(name)
        for path in words[:1]:
            noting.file("write", path, labels=COMES)
    elif action in _COPIES:
        words += ["./"] if action == "get" and len(words) == 1 else []
        recursive = action in ("sync", "rsync") or options.has("--recursive|-r|-R")
        transfer(noting, words, recursive=recursive)
        local = [path for path in words[-1:] if "://" not in path]
        if not (recursive and len(words) > 1 and options.has("--delete|-d|--delete-unmatched-destination-objects")):
            local = []
        if action in ("mv", "move"):
            local += [path for path in words[:-1] if "://" not in path]
        for path in local:
            noting.file("delete", path, recursive=recursive)


def _azure(noting: Noting) -> None:
    if noting.options.subcommand[-1:] == ("download",):
        for value in noting.values("--file|--dest"):
            noting.file("write", value, labels=COMES)


def _forge(noting: Noting) -> None:
    """``gh`` and ``glab``."""
    options = noting.options
    host = "gitlab.com" if noting.command.program == "glab" else "github.com"
    first, second, *_ = (*options.subcommand, "", "")
    words = noting.operands()
    if first in ("secret", "variable", "auth"):
        return  # kept by the forge for its own jobs
    if first == "api":
        request = Request(noting)
        request.method = options.value("-X|--method") or ""
        for value in noting.values("-F|--field|-f|--raw-field"):
            request.body()
            if value.partition("=")[2].startswith("@"):
                request.source(value.partition("=")[2][1:])
        for value in noting.values("--input"):
            request.body()
            request.source(value)
        request.note(f"https://api.{options.value('--hostname') or host}/{each.lstrip('/')}" for each in words[:1])
    elif (first, second) in (("gist", "create"), ("snippet", "create")):
        noting.send(f"https://gist.{host}", labels=noting.labels, sources=words)
    elif (first, second) == ("release", "download"):
        for value in noting.values("-p|--pattern"):
            arrive(noting, value, options.value("-D|--dir") or "./", COMES, recursive=False)
        for value in noting.values("-O|--output"):
            noting.file("write", value, labels=COMES)
    elif (first, second) == ("release", "upload"):
        noting.send(f"https://{host}", sources=words[1:])
    else:
        files = noting.values("-F|--body-file|--notes-file")
        labels = noting.labels if "-" in files else noting.command.labels_of()
        if files or labels & PRIVATE:
            noting.send(f"https://{host}", labels=labels, sources=files)


def _there(found: list[Inner], host: str = "remote") -> list[Inner]:
    for each in found:
        each.host = host
    return found


def _run_by_aws(command: Command, options: Options) -> list[Inner]:
    """``aws ssm send-command --parameters commands=…``, ``aws ecs execute-command --command line``."""
    if options.subcommand == ("ecs", "execute-command"):
        return _there(values_as_shell(command, options, "--command", "aws ecs"), "container")
    if options.subcommand != ("ssm", "send-command"):
        return []
    lines = [(each, at) for text, at in options.values("--parameters|--cli-input-json") for each in _commands(text)]
    return _there([each for text, at in lines for each in shell(part(command, text, at), "aws ssm")])


def _commands(text: str) -> list[str]:
    """Return the commands of ``{"commands": ["…"]}`` and of ``commands=["…"]``."""
    import json

    name, equals, rest = text.partition("=")
    is_short = bool(equals) and name.strip() == "commands"
    try:
        found = json.loads(rest if is_short else text)
    except (ValueError, RecursionError):
        return [rest.strip('[]"')] if is_short else []
    if isinstance(found, dict):
        found = found.get("commands") or (found.get("Parameters") or {}).get("commands")
    return [str(each) for each in (found if isinstance(found, list) else [found]) if each]


def _run_by_az(command: Command, options: Options) -> list[Inner]:
    """``az vm run-command invoke --scripts line``, ``az container exec --exec-command line``."""
    found = values_as_shell(command, options, "--scripts|--exec-command", "az")
    if options.has("--scripts"):
        found += [each for at in options.operands for each in shell(word(command, at), "az")]
    return _there(found)


def _run_by_gcloud(command: Command, options: Options) -> list[Inner]:
    """``gcloud compute ssh host --command line``."""
    if options.subcommand[-1:] != ("ssh",):
        return []
    found = values_as_shell(command, options, "--command", "gcloud ssh")
    if options.ended and not found:
        found = shell(joined(command, [at for at in options.operands if at > command.argv.index("--")]), "gcloud ssh")
    return _there(found)


def _run_by_gh(command: Command, options: Options) -> list[Inner]:
    """``gh codespace ssh -- line``, ``gh alias set name '!line'``."""
    if options.subcommand[:2] in {("codespace", "ssh"), ("cs", "ssh")}:
        return _there(shell(joined(command, options.operands), "gh codespace ssh"))
    if options.subcommand != ("alias", "set") or len(options.operands) < 2:
        return []
    at = options.operands[1]
    text = command.argv[at]
    if options.has("-s|--shell") or text[:1] == "!":
        return shell(part(command, text.lstrip("!"), at), "gh alias")
    labels = command.labels.get(at, NO_LABELS)
    return [texts([Data(each, labels) for each in ("gh", *split(text))], "gh alias")]


EFFECTS = {
    "aws": _objects,
    "gsutil": _objects,
    "gcloud": _objects,
    "s3cmd": _objects,
    "az": _azure,
    "gh": _forge,
    "glab": _forge,
}
INNER = {"aws": _run_by_aws, "az": _run_by_az, "gcloud": _run_by_gcloud, "gh": _run_by_gh}
