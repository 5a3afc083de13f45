"""What programs print that fetch it from elsewhere, or out of a store of secrets, or that show all variables."""

from __future__ import annotations

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import (
    ANYTHING,
    DECODED,
    ENVIRONMENT,
    NETWORK,
    NO_LABELS,
    NOTHING,
    SECRET,
    UNKNOWN,
    Data,
)

from .credentials import variable_labels
from .noting import OUTPUTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .printing import Printing

_COMES = frozenset((NETWORK,))


def _curl(printing: Printing) -> Data:
    options = printing.options
    words = [*printing.operands(), *(value for value, _ in options.values("--url"))]
    paths = [file_of_address(word) for word in words]
    if words and all(paths):
        found = [printing.file(path) for path in paths]
        return Data("".join(data.text for data in found), NO_LABELS.union(*(data.labels for data in found)))
    targets = [value for value, _ in options.values("-o|--output")]
    if options.has("-O|--remote-name|--remote-name-all") or (
        targets and OUTPUTS.isdisjoint(targets) and len(targets) >= len(words)
    ):
        # What -w and -v add is the client's own.
        return ANYTHING if options.has("-w|--write-out|-v|--verbose|-i|--include") else NOTHING
    return Data(UNKNOWN, _COMES)


def _wget(printing: Printing) -> Data:
    target = printing.options.value("-O|--output-document")
    return Data(UNKNOWN, _COMES) if target in OUTPUTS else NOTHING


def _cloud(printing: Printing) -> Data:
    """Tools of many commands, some of which print secrets or what they fetched."""
    words = (*printing.options.subcommand, *printing.operands())
    text = " ".join(words[:4])
    program = printing.command.name
    if text.startswith(_SECRET_COMMANDS.get(program, ())):
        return Data(UNKNOWN, frozenset((SECRET,)))
    if "-" in words[-1:] or text.startswith(_FETCHING_COMMANDS.get(program, ())):
        return Data(UNKNOWN, _COMES)
    stdin = printing.command.stdin
    return ANYTHING if stdin is None else Data(UNKNOWN, stdin.labels)


_SECRET_COMMANDS: dict[str, tuple[str, ...]] = {
    "security": ("find-generic-password", "find-internet-password", "dump-keychain", "export"),
    "op": ("read", "item get", "document get", "inject", "get item"),
    "vault": ("kv get", "read", "token create", "unwrap", "print token"),
    "aws": (
        "secretsmanager get-secret-value",
        "secretsmanager batch-get-secret-value",
        "ssm get-parameter",
        "sts get-session-token",
        "sts assume-role",
        "ecr get-login",
        "ecr-public get-login",
        "configure get",
        "configure export-credentials",
        "iam create-access-key",
        "kms decrypt",
        "codeartifact get-authorization-token",
        "rds generate-db-auth-token",
    ),
    "gh": ("auth token", "auth status --show-token", "auth status -t"),
    "glab": ("auth token", "config get token"),
    "gcloud": (
        "auth print-access-token",
        "auth print-identity-token",
        "auth application-default print-access-token",
        "secrets versions access",
        "config config-helper",
    ),
    "az": (
        "account get-access-token",
        "keyvault secret show",
        "keyvault secret download",
        "storage account keys",
        "acr credential",
    ),
    "kubectl": ("get secret", "config view --raw", "create token", "describe secret"),
    "oc": ("get secret", "whoami -t", "extract secret"),
    "bw": ("get", "list", "export", "unlock"),
    "lpass": ("show", "export"),
    "doppler": ("secrets", "configure get token"),
    "heroku": ("config", "auth:token"),
    "secret-tool": ("lookup", "search"),
    "keyring": ("get",),
    "chamber": ("read", "export", "env"),
    "rclone": ("config show", "config dump", "reveal"),
    "ansible-vault": ("view", "decrypt"),
    "npm": ("token",),
    "terraform": ("state pull",),
}


_FETCHING_COMMANDS: dict[str, tuple[str, ...]] = {
    "gh": ("api", "gist view", "release view", "release download", "issue view", "pr view", "run view"),
    "rclone": ("cat",),
    "gsutil": ("cat",),
    "gcloud": ("storage cat",),
    "s3cmd": ("get",),
}


def _sops(printing: Printing) -> Data:
    return (
        Data(UNKNOWN, frozenset((SECRET,)))
        if printing.options.has("-d|--decrypt") or "decrypt" in printing.command.argv
        else ANYTHING
    )


def _pass(printing: Printing) -> Data:
    words = printing.operands()
    return (
        ANYTHING
        if not words or words[0] in ("ls", "list", "find", "git", "insert", "edit")
        else Data(UNKNOWN, frozenset((SECRET,)))
    )


def _gpg(printing: Printing) -> Data:
    options = printing.options
    labels = printing.input().labels
    if options.has("--export-secret-keys|--export-secret-subkeys"):
        return Data(UNKNOWN, frozenset((SECRET,)))
    if options.has("-o|--output"):
        return NOTHING
    if options.has("-d|--decrypt"):
        return Data(UNKNOWN, labels | {SECRET, DECODED})
    if options.has("--dearmor"):
        return Data(UNKNOWN, labels | {DECODED})
    return Data(UNKNOWN, labels)


def _env(printing: Printing) -> Data:
    words = printing.operands()
    if printing.options.has("-i|--ignore-environment") or any("=" not in word for word in words):
        return ANYTHING
    return Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def _printenv(printing: Printing) -> Data:
    names = printing.operands()
    if printing.command.name == "printenv" and names:
        return Data(UNKNOWN, NO_LABELS.union(*map(variable_labels, names)))
    return ANYTHING if names else Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def _variables(printing: Printing) -> Data:
    """``set``, ``export``, ``declare``: all variables, or nothing where some are set."""
    return NOTHING if printing.operands() else Data(UNKNOWN, frozenset((ENVIRONMENT,)))


SOURCES: dict[str, Callable[[Printing], Data]] = {
    "curl": _curl,
    "curlie": _curl,
    "wget": _wget,
    "wget2": _wget,
    "env": _env,
    "printenv": _printenv,
    "history": _printenv,
    **dict.fromkeys("set export declare typeset local readonly".split(), _variables),
    **dict.fromkeys([*_SECRET_COMMANDS, *_FETCHING_COMMANDS], _cloud),
    "sops": _sops,
    "pass": _pass,
    "gopass": _pass,
    "gpg": _gpg,
    "gpg2": _gpg,
}
