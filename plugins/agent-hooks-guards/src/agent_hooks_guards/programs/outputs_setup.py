"""What programs print for a shell to take up: their own variables, functions and completions, and nothing of others."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command

_SHELLS = frozenset(("bash", "zsh", "sh", "fish", "posix", "-", "powershell", "-s"))

# By what the words begin with, as each of these documents it for `eval "$(…)"`.
_SETUPS = {
    **dict.fromkeys(
        "pyenv rbenv nodenv jenv goenv plenv swiftenv phpenv tfenv luaenv exenv basher tmuxifier jump".split(),
        ("init", "virtualenv-init", "sh-shell", "sh-rehash"),
    ),
    **dict.fromkeys("starship zoxide atuin oh-my-posh mcfly antibody".split(), ("init",)),
    "direnv": ("hook", "stdlib"),
    "shadowenv": ("hook", "init"),
    "fnm": ("env",),
    "brew": ("shellenv",),
    "conda": ("shell.", "init"),
    "mamba": ("shell.", "shell hook"),
    "micromamba": ("shell hook",),
    "pixi": ("shell-hook",),
    "mise": ("activate", "hook-env"),
    "rtx": ("activate", "hook-env"),
    "opam": ("env", "config env"),
    "minikube": ("docker-env", "podman-env"),
    "docker-machine": ("env",),
    "crc": ("oc-env", "podman-env"),
    "luarocks": ("path",),
    "thefuck": ("--alias", "-a"),
    "ssh-agent": ("",),
    "dircolors": ("",),
    "lesspipe": ("",),
    "lesspipe.sh": ("",),
    "keychain": ("",),
    "dbus-launch": ("",),
    "resize": ("",),
    "register-python-argcomplete": ("",),
    "path_helper": ("",),
    "hub": ("alias",),
    "sheldon": ("source",),
    "navi": ("widget",),
    "pkgx": ("--shellcode", "dev --shellcode"),
    "devbox": ("shellenv", "global shellenv"),
    "nix": ("print-dev-env",),
    "spack": ("load --sh", "env activate --sh"),
    "uv": ("generate-shell-completion",),
    "rustup": ("completions",),
    "perl": ("-Mlocal::lib",),
    "fzf": ("--bash", "--zsh"),
}
_COMPLETIONS = frozenset(("completion", "completions", "shell-completion", "autocomplete", "--completion"))


def sets_up_shell(command: Command) -> bool:
    """Whether what the command prints is for a shell to take up."""
    words = command.argv[1:]
    begun = _SETUPS.get(command.name)
    if begun is not None:
        return " ".join(words).startswith(begun)
    if not words or words[0] not in _COMPLETIONS:
        return False
    return all(word in _SHELLS or word in ("--shell", "--no-descriptions") for word in words[1:])


def quoted_for_shell(program: str) -> str | None:
    r"""Return what ``jq`` makes of ``@sh "A=\(.a)"``, in which each value is quoted for a shell; None for another."""
    text = program.strip()
    at = text.rfind('@sh "')
    return _quoted(text[at + 5 : -1]) if at >= 0 and text.endswith('"') else None


def _quoted(text: str) -> str:
    r"""The text with a quoted ``UNKNOWN`` for each ``\(…)`` in it."""
    made = ""
    while (at := text.find("\\(")) >= 0:
        depth, end = 0, at + 1
        for end in range(at + 1, len(text)):
            depth += (text[end] == "(") - (text[end] == ")")
            if not depth:
                break
        made += f"{text[:at]}'{UNKNOWN}'"
        text = text[end + 1 :]
    return made + text
