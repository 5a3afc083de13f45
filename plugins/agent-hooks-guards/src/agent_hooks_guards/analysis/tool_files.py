"""What tools run of the files in the folder where they are started.

Only files that the same command wrote before are looked at: what was there already is the project's own.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.actions import Command

    # The file, the language, the text.
    Run = tuple[str, str, Data]

_SETTINGS = "*.config.js *.config.cjs *.config.mjs *.config.ts *.config.mts .*rc.js .*rc.cjs"
# By program: names of files, and the language they are in.
_FILES: dict[str, tuple[tuple[str, str], ...]] = {
    program: tuple((name, language) for names, language in files for name in names.split())
    for programs, files in (
        ("pytest py.test", (("conftest.py test_*.py *_test.py", "tests"),)),
        ("tox nox", (("noxfile.py setup.py conftest.py test_*.py", "python"),)),
        ("pip uv pipx poetry pdm hatch easy_install", (("setup.py", "python"),)),
        ("sphinx-build", (("conf.py", "python"),)),
        ("scons", (("SConstruct SConscript", "python"),)),
        ("fab invoke inv doit", (("fabfile.py tasks.py dodo.py", "python"),)),
        ("django-admin manage.py flask gunicorn uvicorn", (("manage.py settings.py app.py wsgi.py", "python"),)),
        ("rake", (("Rakefile rakefile Rakefile.rb", "ruby"),)),
        ("bundle bundler", (("Gemfile *.gemspec", "ruby"),)),
        ("gem", (("extconf.rb *.gemspec", "ruby"),)),
        ("rspec", (("spec_helper.rb *_spec.rb", "ruby"),)),
        ("vagrant", (("Vagrantfile", "ruby"),)),
        ("pod fastlane danger guard", (("Podfile Fastfile Dangerfile Guardfile", "ruby"),)),
        ("brew", (("Brewfile", "ruby"),)),
        (
            (
                "jest vitest eslint vite webpack rollup gulp grunt next nuxt playwright mocha prettier babel postcss"
                " tailwindcss cypress karma ava tsup esbuild astro svelte-kit stylelint commitlint nodemon"
            ),
            ((f"{_SETTINGS} gulpfile.* Gruntfile.* *.test.js *.spec.js *.test.ts *.spec.ts .pnp.cjs", "node"),),
        ),
        ("cargo", (("build.rs main.rs lib.rs", "rust"),)),
        ("go", (("*.go", "go"),)),
        ("java javac", (("*.java", "java"),)),
        ("gradle gradlew", (("build.gradle settings.gradle", "groovy"),)),
        ("direnv", ((".envrc", "sh"),)),
        ("just", (("justfile Justfile .justfile", "just"),)),
        ("npm pnpm yarn bun", (("package.json", "package.json"),)),
        ("composer", (("composer.json", "package.json"),)),
        ("deno", (("deno.json deno.jsonc", "package.json"),)),
        ("configure meson autoreconf", (("configure configure.ac", "sh"),)),
        ("dpkg-buildpackage makepkg", (("PKGBUILD rules", "sh"),)),
    )
    for program in programs.split()
}
# What is run when these are asked for.
_LIFECYCLE = {
    "install": "preinstall install postinstall prepublish preprepare prepare postprepare",
    "version": "preversion version postversion",
    "publish": "prepublishOnly prepack prepare postpack publish postpublish",
    "pack": "prepack prepare postpack",
    "start": "prestart start poststart",
    "stop": "prestop stop poststop",
    "restart": "prerestart restart postrestart",
    "test": "pretest test posttest",
}
_SHORT = {
    "i": "install", "ci": "install", "add": "install", "update": "install", "dump-autoload": "install", "t": "test",
    "tst": "test", "": "install",
}  # fmt: skip
_RUNS = frozenset(("run", "run-script", "rum", "urn", "task", "exec"))


def run_by_tool(command: Command, files: Callable[[str], Data | None], names: list[str]) -> list[Run]:
    """Return the paths, languages and texts of what ``command`` runs out of the files ``names``, by path, that were
    written on the way.
    """
    name = command.options.value("-m") or "" if command.name == "python" else command.name
    known = _FILES.get(name)
    if known is None or (name == "go" and command.options.subcommand[:1] not in (("run",), ("test",))):
        return []
    from fnmatch import fnmatchcase

    found: list[Run] = []
    for path in names:
        folder, _, name = path.rpartition("/")
        if not _is_inside(folder, command.cwd) and path not in command.argv:
            continue
        for pattern, language in known:
            if fnmatchcase(name, pattern) and (data := files(path)) is not None:
                texts = _scripts(command, data) if language == "package.json" else [_read(language, data)]
                found += [(path, *each) for each in texts]
                break
    return found


def _is_inside(folder: str, cwd: str) -> bool:
    return folder == cwd or folder.startswith(f"{cwd}/") or cwd.startswith(f"{folder}/")


def _read(language: str, data: Data) -> tuple[str, Data]:
    if language == "tests":
        # What a test runner calls is called.
        names = [line.split("def ", 1)[1].partition("(")[0].strip() for line in data.text.split("\n") if _is_head(line)]
        return "python", Data("\n".join([data.text, *(f"{name}()" for name in names)]), data.labels)
    if language != "just":
        return language, data
    lines = [line.strip().lstrip("@-") for line in data.text.split("\n") if line[:1] in (" ", "\t")]
    return "sh", Data("\n".join(lines), data.labels)


def _is_head(line: str) -> bool:
    return line.startswith(("def ", "async def "))


def _scripts(command: Command, data: Data) -> list[tuple[str, Data]]:
    """The scripts of a ``package.json`` that the command names, with what runs before and after them."""
    import json

    try:
        settings = json.loads(data.text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(settings, dict):
        return []
    scripts = settings.get("scripts") or settings.get("tasks")
    if not isinstance(scripts, dict):
        return []
    words = [word for word in command.argv[1:] if word[:1] != "-"]
    names: list[str] = []
    if words and words[0] in _RUNS:
        names = words[1:2]
    else:
        first = words[0] if words else ""
        first = _SHORT.get(first, first)
        names = _LIFECYCLE.get(first, first).split()
    found: list[tuple[str, Data]] = []
    for name in names:
        for each in (f"pre{name}", name, f"post{name}"):
            text = scripts.get(each)
            texts = text if isinstance(text, list) else [text]
            found += [("sh", Data(line, data.labels)) for line in texts if isinstance(line, str)]
    return found
