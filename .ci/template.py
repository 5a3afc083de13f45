"""Follows docs/writing-a-plugin.md with each plugin that `agent-hooks new plugin` can write, in fresh environments.

The commands of the page run as they stand, with uv in place of pip, venv and the installer of build, which takes a
quarter of the time, and with a wheel of this core. What the page shows below a command must be its output; a command
that shows nothing must succeed. Where the page adds settings, the plugin without any gets the files that the page
shows. At last the plugin's own tests run against its built wheel.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from run_page import Page, PageError  # noqa: E402 - found by the line above

PAGE = ROOT / "docs" / "writing-a-plugin.md"
NAME = "no-frobs"
# The options of each plugin, and its name: the lines of its files are as long as they can be in one.
VARIANTS = {
    "": NAME,
    "--with settings": NAME,
    "--with command": NAME,
    "--with handler": NAME,
    "--with settings,command,handler": "a-plugin-with-the-longest-name-there-is1",
}
WITH_UV = {
    "../trial/bin/pip install": "uv pip install --python ../trial",
    "pip install": "uv pip install",
    "python -m venv": f"uv venv --no-project --python {sys.executable}",
    "python -m build": "python -m build --installer uv",
}
# A terminal of the page, or a file with its name above it.
BLOCK = re.compile(
    r"^(?:<!-- not run: tox -e template does -->|`(?P<file>[^`\n]+)`)\n(?P<fence>```+)\w+\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
AFTERWARDS = ("pip install --force-reinstall --no-deps dist/*.whl", "pytest")


class Step(NamedTuple):
    """Something to do: a ``command`` with the output that the page shows, or a ``file`` with the text to write into it;
    and the line of its block.
    """

    line: int
    command: str
    file: str
    text: str


def steps_of(page: str, options: str) -> Iterator[Step]:
    """Yield the steps of the page for one plugin: those about settings if it has them, or none of the parts so far."""
    has_settings = not options or "settings" in options
    start = 0
    for section in re.split("^(?=## )", page, flags=re.MULTILINE):
        is_of_settings = section.startswith("## Settings\n")
        for block in BLOCK.finditer(section) if has_settings or not is_of_settings else ():
            line = page.count("\n", 0, start + block.start("text")) + 1
            if not block["file"]:
                for chunk in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                    command, _, expected = chunk.partition("\n")
                    yield Step(line, command, "", expected)
            elif is_of_settings and not options:
                yield Step(line, "", block["file"], block["text"])
        start += len(section)
    for command in AFTERWARDS:
        yield Step(0, command, "", "")


def problem_of(line: int, expected: str, *, is_as_meant: bool, printed: str) -> str:
    """Return what a command did other than the page says."""
    if not is_as_meant:
        return f"{PAGE.name}:{line}: it failed.\n{printed}"
    try:
        if expected.strip():
            Page(PAGE.name).compare(line, expected, printed)
    except PageError as error:
        return str(error)
    return ""


def follow(options: str, name: str, folder: Path, environment: dict[str, str]) -> str:
    """Follow the page with one plugin; return the first command that went wrong and what it printed."""
    folder.mkdir()
    with subprocess.Popen(
        ["bash"],
        cwd=folder,
        env={**environment, "HOME": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        for line, shown, file, text in steps_of(PAGE.read_text(encoding="utf-8"), options):
            if file:
                (folder / name / file).write_text(text, encoding="utf-8")
                continue
            command = re.sub("|".join(map(re.escape, WITH_UV)), lambda found: WITH_UV[found[0]], shown)
            command = command.replace(f"plugin {NAME}", f"plugin {NAME} {options}").replace(NAME, name)
            expected = text.replace(NAME, name).replace(NAME.replace("-", "_"), name.replace("-", "_"))
            shell.stdin.write(f'{command} </dev/null\necho "\nEND $?"\n')
            shell.stdin.flush()
            printed = ""
            while not (end := re.search(r"^END (\d+)\n", printed, re.MULTILINE)):
                if not (more := shell.stdout.readline()):
                    return f"the shell ended.\n$ {command}\n{printed}"
                printed += more
            # What the rule denies, `check` does not call a success.
            is_as_meant = int(end[1]) == command.startswith("agent-hooks check ")
            if problem := problem_of(line, expected, is_as_meant=is_as_meant, printed=printed[: end.start()]):
                shell.stdin.close()
                return f"{problem}\n$ {command}"
        shell.stdin.close()
    return ""


def main() -> int:
    """Follow the page with each plugin, two at a time; return the exit code."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(os.path.realpath(temporary))
        subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(work), str(ROOT)], check=True)
        (wheel,) = work.glob("*.whl")
        (work / "constraints.txt").write_text(f"agent-hooks-core @ {wheel.as_uri()}\n", encoding="utf-8")
        # Without the environment of this process, which uv would install into.
        gone = re.compile("AGENT_HOOKS_|VIRTUAL_ENV|UV_PYTHON|PYTHON")
        environment = {name: value for name, value in os.environ.items() if not gone.match(name)}
        environment |= {
            "MYPY_CACHE_DIR": str(work / "mypy"),  # most of the time goes into reading the core
            "NO_COLOR": "1",
            "PATH": f"{work}/command/bin{os.pathsep}{os.environ['PATH']}",
            "UV_CACHE_DIR": subprocess.check_output(["uv", "cache", "dir"], text=True).strip(),
            "UV_CONSTRAINT": str(work / "constraints.txt"),
        }
        venv = ["uv", "venv", "--quiet", "--no-project", "--python", sys.executable, str(work / "command")]
        subprocess.run(venv, env=environment, check=True)
        install = ["uv", "pip", "install", "--quiet", "--python", str(work / "command"), "agent-hooks-core[cli]"]
        subprocess.run(install, env=environment, check=True)

        def run(options: str, name: str) -> bool:
            start = monotonic()
            problem = follow(options, name, work / f"in-{options.replace(' ', '-')}", environment)
            print(f"--- {name} {options}: {problem or f'{monotonic() - start:.0f} s'}", flush=True)
            return not problem

        with ThreadPoolExecutor(max_workers=2) as pool:
            passed = [*pool.map(run, VARIANTS, VARIANTS.values())]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
