"""Variables of the environment that make a program run something: ``GIT_SSH_COMMAND``, ``PAGER``, ``BASH_ENV``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NOTHING, UNKNOWN, Data

from .unwrapping import code, file, shell, split, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command

# Variables whose value is a command line, or near enough, for one program or another.
_COMMAND_LINES = frozenset(
    "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS"
    " PAGER MANPAGER SYSTEMD_PAGER PSQL_PAGER PSQL_EDITOR AWS_PAGER GH_PAGER GH_EDITOR BAT_PAGER EDITOR VISUAL"
    " SUDO_EDITOR SUDO_ASKPASS KUBE_EDITOR KUBECTL_EXTERNAL_DIFF FCEDIT BROWSER SSH_ASKPASS RSYNC_RSH"
    " RSYNC_CONNECT_PROG SVN_SSH SVN_EDITOR HGEDITOR LESSOPEN LESSCLOSE LESSEDIT PROMPT_COMMAND RUSTC_WRAPPER"
    " RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC CMAKE_C_COMPILER_LAUNCHER"
    " CMAKE_CXX_COMPILER_LAUNCHER CC CXX LD MAKE TAPE_RSH TAR_RSH npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL"
    " npm_config_editor npm_config_git RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND BORG_RSH RCLONE_PASSWORD_COMMAND"
    " FZF_DEFAULT_COMMAND PERL5SHELL SHELL".split()
)
# Variables with code, or behind `@` a file of code.
_CODES = {"VIMINIT": "vim", "EXINIT": "vim", "PERL5DB": "perl", "LUA_INIT": "lua"}
# Variables with a file of code.
_FILES = {"BASH_ENV": "sh", "PYTHONSTARTUP": "python", "GIT_CONFIG_GLOBAL": "gitconfig"}
# Variables whose substitutions a shell runs before it shows them, or to find the file that they name.
_PROMPTS = ("PS0", "PS1", "PS4", "BASH_ENV", "ENV")
_SHELLS = frozenset("bash zsh sh dash ksh mksh ash yash rbash".split())
# Variables with options that are put before those on the command line.
_OPTIONS = {
    "TAR_OPTIONS": "tar",
    "MAKEFLAGS": "make",
    "LESS": "less",
    "MANOPT": "man",
    "PARALLEL": "parallel",
    "NODE_OPTIONS": "node",
    "PERL5OPT": "perl",
}
_NODE = frozenset("npm npx yarn pnpm tsx ts-node next jest vite eslint tsc webpack".split())


def run_by_variables(command: Command, name: str) -> list[Inner]:
    """Return the programs that the variables set for ``command``, which is called ``name``, make it run."""
    found: list[Inner] = []
    for variable, data in command.assignments.items():
        text = data.text
        if not text or text == "/dev/null":
            continue
        if variable in _COMMAND_LINES:
            found += shell(Data(text.lstrip("|-"), data.labels) if "LESS" in variable else data, variable)
        elif variable in _CODES:
            language = _CODES[variable]
            found.append(file(language, text[1:], variable) if text[0] == "@" else code(language, data, variable))
        elif variable in _FILES or (variable == "ENV" and name in _SHELLS):
            found.append(Inner(language=_FILES.get(variable, "sh"), path=text, label=variable))
        elif name == _OPTIONS.get(variable) or (variable == "NODE_OPTIONS" and name in _NODE):
            added = texts([Data(each, data.labels) for each in (_OPTIONS[variable], *split(text))], variable)
            added.stdin = NOTHING
            found.append(added)
        elif variable == "RUBYOPT":
            found += [file("ruby", each[2:], variable) for each in split(text) if each[:2] == "-r" and "/" in each]
        elif name == "git" and variable.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS")):
            from .git import run_by_setting

            settings = [(text, command.assignments.get(f"GIT_CONFIG_VALUE_{variable[15:]}", Data()))]
            if variable == "GIT_CONFIG_PARAMETERS":
                pairs = [each.partition("=") for each in split(text)]
                settings = [(key, Data(value, data.labels)) for key, _, value in pairs]
            found += [inner for key, value in settings for inner in run_by_setting(key, value)]
        elif name == "git" and variable == "GIT_EXEC_PATH":
            found += shell(Data(UNKNOWN), variable)
        elif variable == "ZDOTDIR" and name == "zsh":
            found += [Inner(language="sh", path=f"{text}/{each}", label=variable) for each in (".zshenv", ".zshrc")]
        elif variable.startswith("BASH_FUNC_") and name in _SHELLS:
            found += shell(Data(f"f {text}\nf", data.labels), variable)
        if variable in _PROMPTS and name in _SHELLS and ("$(" in text or "`" in text):
            found += shell(Data(': "' + text.replace('"', '\\"') + '"', data.labels), variable)
    for each in found:
        each.hands_down = False  # or each of many variables would apply to the programs of all others
    return found
