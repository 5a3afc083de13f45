"""What package managers, builders and keepers of environments run: ``npx``, ``uv run``, ``make``, ``direnv exec``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import Data

from .unwrapping import code, joined, operands_from, part, shell, texts, values_as_shell, word, words_from
from .wrappers_code import file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def npm(command: Command, options: Options) -> list[Inner]:
    """``npm exec words``, ``npm exec -c text``, ``npm config set script-shell program``."""
    name = options.subcommand[0] if options.subcommand else ""
    label = f"npm {name}"
    if name in {"exec", "x"}:
        return values_as_shell(command, options, "-c|--call", label) or _package(command, options, label)
    found = values_as_shell(command, options, "--script-shell|--editor|--viewer|--git|--shell", label)
    operands = options.operands
    argv = command.argv
    if name == "explore" and len(operands) > 1:
        found += operands_from(command, options, 1, label)
    elif options.subcommand == ("config", "set") or name == "set":
        for place, at in enumerate(operands):
            key, equals, value = argv[at].partition("=")
            if key in {"script-shell", "editor", "git", "shell", "viewer", "init-module", "browser"}:
                if equals:
                    found += shell(part(command, value, at), "npm config")
                elif place + 1 < len(operands):
                    found += shell(word(command, operands[place + 1]), "npm config")
    elif name == "pkg" or options.subcommand == ("pkg", "set"):
        for at in operands:
            key, _, value = argv[at].partition("=")
            if key.startswith("scripts."):
                found += shell(part(command, value, at), "npm pkg set scripts")
    return found


def npx(command: Command, options: Options) -> list[Inner]:
    """``npx words``, ``npx -c text``: a program of a package, or of this machine."""
    found = values_as_shell(command, options, "-c|--call", command.name)
    return found or _package(command, options, command.name)


def _package(command: Command, options: Options, label: str) -> list[Inner]:
    """The operands: a package, with a version perhaps, and words for its program."""
    if not options.operands:
        return []
    first = word(command, options.operands[0])
    at = first.text.rfind("@")
    if at < 1 or "/" in first.text[at:]:
        return operands_from(command, options, 0, label)
    rest = [word(command, place) for place in options.operands[1:]]
    return [texts([Data(first.text[:at], first.labels), *rest], label)]


def _behind(*paths: str, shell_option: str = "", skip: int = 0) -> Handler:
    """The words behind a subcommand."""
    wanted = {tuple(path.split()) for path in paths}

    def handler(command: Command, options: Options) -> list[Inner]:
        subcommand = options.subcommand
        if subcommand not in wanted and subcommand[:1] not in wanted:
            return []
        label = f"{command.name} {' '.join(subcommand)}"
        if shell_option:
            found = values_as_shell(command, options, shell_option, label)
            if found:
                return found
            if options.has(shell_option):
                return shell(joined(command, options.operands[skip:]), label)
        return operands_from(command, options, skip, label)

    return handler


def yarn(command: Command, options: Options) -> list[Inner]:
    """``yarn exec words``, ``yarn dlx words``."""
    if options.subcommand[:1] not in {("exec",), ("dlx",), ("x",), ("create",)}:
        return []
    label = f"yarn {options.subcommand[0]}"
    places = [at for at in options.operands if command.argv[at] != "--"]
    if options.subcommand[0] == "exec" and len(places) == 1:
        return shell(word(command, places[0]), label)
    return [Inner(words=places, label=label)] if places and options.subcommand[0] != "create" else []


def bun(command: Command, options: Options) -> list[Inner]:
    """``bun -e text``, ``bun exec text``, ``bun x words``, ``bun file``."""
    found = [code("node", part(command, text, at), "bun -e") for text, at in options.values("-e|--eval|-p|--print")]
    name = options.subcommand[0] if options.subcommand else ""
    if name == "exec":
        return found + shell(joined(command, options.operands), "bun exec")
    if name == "x":
        return found + _package(command, options, "bun x")
    operands = [command.argv[at] for at in options.operands]
    path = operands[0] if name == "run" and operands else name
    if path == "-" and command.stdin is not None:
        found.append(Inner(language="node", label="bun"))
    elif path.endswith((".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", ".mts")):
        found.append(Inner(language="node", path=path, arguments=operands, label="bun"))
    elif path.endswith(".sh"):
        found.append(Inner(language="sh", path=path, arguments=operands, label="bun"))
    return found


def uv(command: Command, options: Options) -> list[Inner]:
    """``uv run words``, ``uv run file.py``, ``uv tool run words``."""
    subcommand = options.subcommand
    if subcommand == ("tool", "run"):
        return _package(command, options, "uv tool run")
    if subcommand[:1] != ("run",):
        return []
    argv = command.argv
    modules = options.values("-m|--module")
    operands = options.operands
    if (options.has("-m|--module") or modules) and operands:
        first = Data("python")
        return [texts([first, Data("-m"), *(word(command, at) for at in operands)], "uv run")]
    if not operands:
        return []
    path = argv[operands[0]]
    rest = [argv[at] for at in operands[1:]]
    if path == "-":
        return [Inner(language="python", label="uv run")] if command.stdin is not None else []
    if path.endswith((".py", ".pyw")) or options.has("-s|--script|--gui-script") or path.startswith("http"):
        return [file("python", path, "uv run", rest)]
    return operands_from(command, options, 0, "uv run")


def pipx(command: Command, options: Options) -> list[Inner]:
    """``pipx run words``; a path or an address is a script."""
    if options.subcommand[:1] != ("run",) or not options.operands:
        return []
    path = command.argv[options.operands[0]]
    if path.endswith(".py"):
        return [file("python", path, "pipx run")]
    return operands_from(command, options, 0, "pipx run")


def hatch(command: Command, options: Options) -> list[Inner]:
    """``hatch run env:words``."""
    found = _behind("run")(command, options)
    for each in found:
        if each.words and ":" in command.argv[each.words[0]]:
            first = word(command, each.words[0])
            program = Data(first.text.partition(":")[2], first.labels)
            return (
                [texts([program, *(word(command, at) for at in each.words[1:])], "hatch run")] if program.text else []
            )
    return found


def conda(command: Command, options: Options) -> list[Inner]:
    """``conda run -n name words``."""
    return _behind("run")(command, options)


def nix(command: Command, options: Options) -> list[Inner]:
    """``nix shell … -c words``, ``nix develop -c words``, ``nix-shell --run text``."""
    if command.name == "nix-shell":
        return values_as_shell(command, options, "--run|--command", "nix-shell")
    name = options.subcommand[0] if options.subcommand else ""
    if name not in {"shell", "develop", "run", "print-dev-env"}:
        return []
    commands = options.values("-c|--command")
    if not commands:
        return []
    return words_from(command, commands[0][1], f"nix {name}")


def guix(command: Command, _options: Options) -> list[Inner]:
    """``guix shell packages -- words``."""
    argv = command.argv
    return (
        words_from(command, argv.index("--") + 1, "guix")
        if "--" in argv and argv[1:2] in (["shell"], ["environment"], ["time-machine"])
        else []
    )


def _with_dashes(*names: str, skip: int = 0, options_with_text: str = "") -> Handler:
    """``mise exec tools -- words``: the words behind ``--``, or behind the operands."""

    def handler(command: Command, _options: Options) -> list[Inner]:
        argv = command.argv
        name = next((text for text in argv[1:] if text in names), "") if names else command.name
        if not name:
            return []
        label = f"{command.name} {name}" if names else command.name
        if options_with_text:
            wanted = options_with_text.split("|")
            for at, text in enumerate(argv):
                key, equals, value = text.partition("=")
                if key in wanted and (equals or at + 1 < len(argv)):
                    return shell(part(command, value, at) if equals else word(command, at + 1), label)
                if text == "--":
                    break
        if "--" in argv:
            return words_from(command, argv.index("--") + 1, label)
        start = argv.index(name) + 1 if names else 1
        places = list(range(start, len(argv)))
        while places and argv[places[0]][:1] == "-":
            places = places[1:]
        places = places[skip:]
        return [Inner(words=places, label=label)] if places else []

    return handler


def mise(command: Command, options: Options) -> list[Inner]:
    """``mise exec tools -- words``, ``mise x -c text``."""
    if options.subcommand[:1] not in {("exec",), ("x",)}:
        return []
    return (
        _with_dashes("exec", "x", options_with_text="-c|--command")(command, options)
        if options.ended or options.has("-c|--command")
        else []
    )


def asdf(command: Command, _options: Options) -> list[Inner]:
    """``asdf exec words``, ``rbenv exec words``, ``volta run words``."""
    argv = command.argv
    for name in ("exec", "run"):
        if argv[1:2] == [name]:
            at = 2
            while at < len(argv) and argv[at][:1] == "-":
                at += 1 if argv[at] == "--" or "=" in argv[at] else 2
            return words_from(command, at, f"{command.name} {name}")
    return []


def direnv(command: Command, _options: Options) -> list[Inner]:
    """``direnv exec folder words``; what is in the folder's ``.envrc`` is run first."""
    argv = command.argv
    if argv[1:2] != ["exec"] or len(argv) < 4:
        return []
    return [Inner(language="sh", path=f"{argv[2]}/.envrc", label="direnv"), *words_from(command, 3, "direnv exec")]


def devbox(command: Command, options: Options) -> list[Inner]:
    """``devbox run -- words``."""
    if options.subcommand[:1] not in {("run",), ("shell",)}:
        return []
    if len(options.operands) == 1 and not options.ended:
        return shell(word(command, options.operands[0]), "devbox run")
    return operands_from(command, options, 0, "devbox run")


def dotenv(command: Command, options: Options) -> list[Inner]:
    """``dotenv -f file run words``, ``dotenv -e file -- words``."""
    operands = [at for at in options.operands if command.argv[at] != "--"]
    if operands and command.argv[operands[0]] in {"run", "exec"}:
        operands = operands[1:]
        while operands and command.argv[operands[0]] in {"--override", "--no-override", "--"}:
            operands = operands[1:]
    elif operands and command.argv[operands[0]] in {"set", "get", "list", "unset"} and not options.ended:
        return []
    return [Inner(words=operands, label="dotenv")] if operands else []


def cross_env(command: Command, _options: Options) -> list[Inner]:
    """``cross-env NAME=value words``."""
    argv = command.argv
    assignments: dict[str, Data] = {}
    at = 1
    while at < len(argv) and "=" in argv[at] and argv[at][:1] != "-":
        name, _, value = argv[at].partition("=")
        assignments[name] = part(command, value, at)
        at += 1
    if command.name == "cross-env-shell":
        found = shell(joined(command, range(at, len(argv))), "cross-env-shell")
    else:
        found = words_from(command, at, command.name)
    for each in found:
        each.assignments = assignments
    return found


def sops(command: Command, options: Options) -> list[Inner]:
    """``sops exec-env file text``, ``sops exec-file file text``."""
    argv = command.argv
    for name in ("exec-env", "exec-file"):
        if name in argv:
            rest = [at for at in options.operands if at > argv.index(name)]
            return shell(joined(command, rest[1:]), f"sops {name}")
    return []


def composer(command: Command, _options: Options) -> list[Inner]:
    """``composer exec words``, ``composer exec -- text``."""
    argv = command.argv
    return (
        words_from(
            command,
            argv.index("exec") + 1 + (argv[argv.index("exec") + 1 : argv.index("exec") + 2] == ["--"]),
            "composer exec",
        )
        if "exec" in argv[1:3]
        else []
    )


def apt(command: Command, options: Options) -> list[Inner]:
    """``apt-get -o APT::Update::Pre-Invoke::=text``."""
    found: list[Inner] = []
    for text, at in options.values("-o|--option"):
        key, _, value = text.partition("=")
        lowered = key.lower()
        if "invoke" in lowered or lowered.startswith(
            (
                "dir::bin",
                "apt::pager",
                "dpkg::pre-install-pkgs",
                "acquire::http::proxy-auto-detect",
                "acquire::http::proxyautodetect",
                "apt::changelogs",
            )
        ):
            found += shell(part(command, value.strip('{}"; '), at), command.name)
    return found


def dpkg(command: Command, options: Options) -> list[Inner]:
    """``dpkg --pre-invoke=text``."""
    return values_as_shell(command, options, "--pre-invoke|--post-invoke|--status-logger", "dpkg")


def rpm(command: Command, options: Options) -> list[Inner]:
    """``rpm --eval '%(text)'``, ``%{lua:text}``, ``--pipe text``."""
    found = values_as_shell(command, options, "--pipe", "rpm")
    for text, at in options.values("-E|--eval|-D|--define"):
        if "%(" in text:
            found += shell(part(command, text.partition("%(")[2].rpartition(")")[0], at), "rpm --eval")
        if "%{lua:" in text:
            found.append(code("lua", part(command, text.partition("%{lua:")[2].rpartition("}")[0], at), "rpm --eval"))
    return found


def fnm(command: Command, _options: Options) -> list[Inner]:
    """``fnm exec --using=version words``, ``nvm exec version words``."""
    argv = command.argv
    if argv[1:2] not in (["exec"], ["run"]):
        return []
    places = list(range(2, len(argv)))
    while places and argv[places[0]][:1] == "-":
        places = places[1 if "=" in argv[places[0]] or argv[places[0]] in {"--silent", "--", "--lts"} else 2 :]
    if command.name == "nvm" and places and argv[places[0]].lstrip("v").replace(".", "").isdigit():
        places = places[1:]
    return [Inner(words=places, label=f"{command.name} exec")] if places else []


HANDLERS: dict[str, Handler] = {
    "npm": npm,
    "npx": npx,
    "pnpx": npx,
    "bunx": npx,
    "pnpm": _behind("exec", "dlx", "x", shell_option="-c|--shell-mode"),
    "yarn": yarn,
    "bun": bun,
    "uv": uv,
    "uvx": npx,
    "pipx": pipx,
    "poetry": _behind("run"),
    "pipenv": _behind("run"),
    "hatch": hatch,
    "pdm": _behind("run"),
    "rye": _with_dashes("run"),
    "conda": conda,
    "mamba": conda,
    "micromamba": conda,
    "pixi": _behind("run", "exec"),
    "rustup": _behind("run", skip=1),
    "bundle": _behind("exec"),
    "gem": _behind("exec"),
    "nix": nix,
    "nix-shell": nix,
    "guix": guix,
    "mise": mise,
    "rtx": mise,
    "asdf": asdf,
    "rbenv": asdf,
    "pyenv": asdf,
    "nodenv": asdf,
    "volta": asdf,
    "direnv": direnv,
    "devbox": devbox,
    "dotenv": dotenv,
    "dotenvx": dotenv,
    "op": _behind("run"),
    "aws-vault": _with_dashes("exec", skip=1),
    "chamber": _with_dashes("exec", skip=1),
    "doppler": _behind("run", shell_option="--command"),
    "infisical": _with_dashes("run", options_with_text="--command|-c"),
    "sops": sops,
    "teller": _with_dashes("run"),
    "envchain": _with_dashes(skip=1),
    "cross-env": cross_env,
    "cross-env-shell": cross_env,
    "lerna": _with_dashes("exec"),
    "composer": composer,
    "apt": apt,
    "apt-get": apt,
    "dpkg": dpkg,
    "rpm": rpm,
    "fnm": fnm,
    "nvm": fnm,
    "saml2aws": _with_dashes("exec"),
    "corepack": _with_dashes("npx", "yarn", "pnpm", "npm"),
    "nx": _with_dashes("exec"),
    "brew": _with_dashes("exec"),
}
