"""The names of Python's modules: which are one and the same, and which of them reach outside of the code."""

from __future__ import annotations

import builtins

from agent_hooks_guards.model.values import UNKNOWN

BUILTINS = frozenset(dir(builtins)) | {
    "__builtins__", "__import__", "raw_input", "execfile", "unichr", "xrange", "unicode", "reduce", "file", "exit",
    "quit", "get_ipython", "__loader__", "__spec__",
}  # fmt: skip

# Modules of which anything that is called may do harm.
RISKY = frozenset(("os", "subprocess", "shutil", "pty", "libc", "object", "builtins", UNKNOWN))

_SAME = {
    "posix": "os", "nt": "os", "_posixsubprocess": "subprocess", "posixpath": "os.path", "ntpath": "os.path",
    "_io": "io",
    "__builtin__": "builtins", "__builtins__": "builtins", "_pickle": "pickle", "cPickle": "pickle",
    "_socket": "socket",
    "dill": "pickle", "cloudpickle": "pickle", "_thread": "threading", "thread": "threading",
    "urllib2": "urllib.request",
    "httplib": "http.client", "commands": "subprocess", "_winapi": "nt", "imp": "importlib",
    "_frozen_importlib": "importlib",
    "__loader__": "importlib", "pathlib2": "pathlib", "requests.api": "requests", "requests.sessions": "requests",
    "curl_cffi.requests": "requests", "curl_cffi": "requests", "aiofiles": "io", "Path": "pathlib.Path", "_os": "os",
    "_sys": "sys", "_subprocess": "subprocess", "pickle5": "pickle", "simplejson": "json", "ujson": "json",
    "orjson": "json",
    "ruamel.yaml": "yaml", "asyncio.subprocess": "asyncio",
}  # fmt: skip

# Modules that others show as an attribute of theirs: `shutil.os`.
_INSIDE = frozenset(
    "os _os posix nt sys _sys subprocess _subprocess shutil _shutil builtins __builtins__ importlib socket "
    "requests pathlib ctypes pty io codecs base64 pickle".split()
)

# Functions by their name alone, where it is not known whose they are.
TAILS = {
    **{each: f"os.{each}" for each in (
        "system popen execl execle execlp execlpe execv execve execvp execvpe spawnl spawnle spawnlp spawnlpe spawnv "
        "spawnve spawnvp spawnvpe posix_spawn posix_spawnp unlink rmdir removedirs startfile").split()},
    "rmtree": "shutil.rmtree",
    "Popen": "subprocess.Popen",
    "check_output": "subprocess.check_output",
    "check_call": "subprocess.check_call",
    "getoutput": "subprocess.getoutput",
    "getstatusoutput": "subprocess.getstatusoutput",
    "urlopen": "urllib.request.urlopen",
    "import_module": "importlib.import_module",
}  # fmt: skip


_PRINTING = frozenset(("pprint", "this", "runpy", "pdb", "code"))


def module_name(dotted: str) -> str:
    """Return a module's own name; ``UNKNOWN`` alone if it is not known."""
    if UNKNOWN in dotted:
        return UNKNOWN
    return _SAME.get(dotted, dotted)


def attribute_name(owner: str, attr: str) -> str:
    """Return the name of an attribute of something that has a name."""
    if attr in _INSIDE and owner not in ("asyncio", UNKNOWN) and owner.rpartition(".")[2] != attr:
        return module_name(attr)
    if owner == "builtins":
        return attr
    if owner in ("ctypes.cdll", "ctypes.windll", "ctypes.pydll", "libc"):
        return f"libc.{attr}" if owner == "libc" else "ctypes.cdll.LoadLibrary" if attr == "LoadLibrary" else "libc"
    if owner == "io" and attr in ("open", "FileIO", "open_code"):
        return "open"
    dotted = f"{owner}.{attr}"
    return _SAME.get(dotted, dotted)


def is_foreign(dotted: str) -> bool:
    """Whether it is of a module that does not come with Python, or that prints what it is given."""
    from sys import stdlib_module_names

    first = dotted.partition(".")[0]
    return first in _PRINTING or (first not in stdlib_module_names and first not in BUILTINS)


def guessed(word: str) -> str | None:
    """Return what a name is that stands in somebody's globals."""
    if word in _SAME or word in _INSIDE or word in ("glob", "json", "pickle", "urllib", "tempfile", "time", "re"):
        return module_name(word)
    if word in TAILS:
        return TAILS[word]
    return word if word in BUILTINS else None
