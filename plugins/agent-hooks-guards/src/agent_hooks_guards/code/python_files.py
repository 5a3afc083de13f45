"""What Python code does to files: open, os, shutil, pathlib, tempfile, archives."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import FILE, STDIN
from .python_values import HOME, Value, binary, constant, is_text, items_of, join_paths, labels_of, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_call import Call
    from .python_walk import Walk

STREAMS = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_OUTPUTS = frozenset(
    f"{folder}/{name}" for folder in ("/dev", "/dev/fd", "/proc/self/fd") for name in ("stdout", "stderr", "1", "2")
)


def opened(walk: Walk, target: Value, mode: str) -> Value:
    """Note that a file is opened; return it."""
    if target.kind == "file":
        return target
    if target.kind == "socket":
        return target
    if target.kind == "constant" and isinstance(target.it, int):
        target = constant(f"/dev/fd/{target.it}")
    path = walk.path(target)
    if path in STREAMS:
        return Value("file", "", frozenset((STDIN,)))
    if path in _OUTPUTS or path.startswith("/dev/fd/"):
        return Value("file", path)
    writes = any(each in mode for each in "wax+")
    if writes:
        walk.effect("write", path, method="" if "w" in mode or "x" in mode else "append")
    if not writes or "+" in mode:
        if path == UNKNOWN:
            return Value("file", path, labels_of(target))
        walk.effect("read", path)
        return Value("file", path, read_labels(walk, path))
    return Value("file", path)


def read_labels(walk: Walk, path: str) -> frozenset[str]:
    """Return the labels of what is read from a file."""
    written = walk.found.files.get(path)
    own = frozenset((FILE + path,))
    return own if written is None else own | written.labels


def contents(walk: Walk, file: Value) -> Value:
    """Return what is read from a file."""
    known = walk.contents.get(file.it)
    if known is not None:
        return known
    return walk.read_input() if STDIN in file.labels else unknown(file.labels)


def written(walk: Walk, path: str, value: Value) -> None:
    """Note what is written to a file."""
    if path in _OUTPUTS:
        walk.echo(value)
        return
    if not path or path in STREAMS or path.startswith("/dev/fd/"):
        walk.may_print()
        return
    labels = labels_of(value)
    old = walk.contents.get(path)
    now = binary("Add", old, value) if old is not None else value
    if not is_text(now):
        now = unknown(labels | (labels_of(old) if old is not None else NO_LABELS))
    walk.contents[path] = now
    walk.found.files[path] = Data(text_of(now).replace(HOME, "~"), labels_of(now))
    effects = walk.found.effects
    at = next((at for at, each in enumerate(effects) if each[:2] == ("write", path)), None)
    if at is None:
        walk.effect("write", path, labels=labels, method="append")
    elif labels:
        kind, name, recursive, known, method = effects[at]
        effects[at] = (kind, name, recursive, known | labels, method)


def _open(call: Call) -> Value:
    mode = call.value(1, "mode")
    if call.given(1, "mode") is None:
        text = "r"
    elif mode.kind == "constant" and isinstance(mode.it, int):
        text = _flags(mode.it)
    else:
        text = "w" if UNKNOWN in text_of(mode) else text_of(mode)
    return opened(call.walk, call.value(0, "file", "path", "filename"), text)


def _flags(flags: int) -> str:
    import os

    if not flags & (os.O_WRONLY | os.O_RDWR):
        return "r"
    return "a" if flags & os.O_APPEND or not flags & (os.O_TRUNC | os.O_CREAT) else "w"


def _remove(call: Call) -> Value:
    value = call.value(0, "path")
    call.walk.effect(
        "delete", call.walk.path(value), recursive=call.name in ("shutil.rmtree", "distutils.dir_util.remove_tree")
    )
    return constant(None)


def move(walk: Walk, source: Value, target: Value) -> None:
    """Note that a file or folder is moved."""
    path, new = walk.path(source), walk.path(target)
    # A name that is not known is one name, and not all of a folder.
    recursive = bool(path.rpartition("/")[2].strip(UNKNOWN))
    walk.effect("delete", path, recursive=recursive)
    walk.effect("write", new, recursive=recursive, labels=read_labels(walk, path))


def _move(call: Call) -> Value:
    move(call.walk, call.value(0, "src"), call.value(1, "dst"))
    return call.value(1, "dst")


def copy(walk: Walk, source: Value, target: Value, *, recursive: bool = False) -> None:
    """Note that a file or folder is copied."""
    path, new = walk.path(source), walk.path(target)
    labels = read_labels(walk, path)
    walk.effect("read", path, recursive=recursive)
    walk.effect("write", new, recursive=recursive, labels=labels)
    _keep(walk, new, labels, walk.contents.get(path))


def _keep(walk: Walk, path: str, labels: frozenset[str], content: Value | None = None) -> None:
    if content is not None:
        walk.contents[path] = content
    walk.found.files[path] = Data(text_of(content) if content is not None else UNKNOWN, labels)


def _copy(call: Call) -> Value:
    source, target = call.value(0, "src"), call.value(1, "dst")
    copy(call.walk, source, target, recursive=call.name.endswith("tree"))
    return target


def _copy_file(call: Call) -> Value:
    """``copyfileobj``: from one open file to another."""
    source, target = call.value(0, "fsrc"), call.value(1, "fdst")
    if target.kind == "file":
        written(
            call.walk, target.it, contents(call.walk, source) if source.kind == "file" else unknown(labels_of(source))
        )
    return unknown()


def _write(call: Call) -> Value:
    call.walk.effect("write", call.path(0, "path", "name"))
    return unknown()


def _touch(call: Call) -> Value:
    call.walk.effect("write", call.path(0, "path", "name"), method="append")
    return unknown()


def _link(call: Call) -> Value:
    call.walk.effect("write", call.path(1, "dst"))
    return unknown()


def _read(call: Call) -> Value:
    path = call.path(0, "filename", "filenames", "path")
    call.walk.effect("read", path)
    return unknown(read_labels(call.walk, path))


def _os_write(call: Call) -> Value:
    target = call.value(0)
    if target.kind == "constant" and isinstance(target.it, int):
        target = opened(call.walk, target, "w")
    if target.kind == "file":
        written(call.walk, target.it, call.value(1))
    elif target.kind == "socket":
        from .python_network import sent

        sent(call.walk, target, call.value(1))
    elif target.kind == "constant" and target.it == 1:
        call.walk.echo(call.value(1))
    elif target.kind != "constant":
        call.walk.may_print()
    return unknown()


def _os_read(call: Call) -> Value:
    source = call.value(0)
    return contents(call.walk, source) if source.kind == "file" else unknown(labels_of(source))


def _same_file(call: Call) -> Value:
    source = call.value(0)
    return opened(call.walk, source, call.text(1, default="r")) if source.kind == "constant" else source


def _input_files(call: Call) -> Value:
    """The module ``fileinput``."""
    files = call.given(0, "files")
    if files is None:
        return Value("file", "", frozenset((STDIN,)))
    labels: frozenset[str] = NO_LABELS
    for each in [files] if is_text(files) else items_of(files) or [files]:
        path = call.walk.path(each)
        call.walk.effect("read", path)
        labels |= read_labels(call.walk, path)
        if call.flag(1, "inplace") is not False:
            call.walk.effect("write", path)
    return Value("file", "", labels)


def _chdir(call: Call) -> Value:
    call.walk.cwd = call.path(0, "path")
    return constant(None)


def _archive(call: Call) -> Value:
    """``zipfile.ZipFile``, ``tarfile.open``."""
    mode = call.text(1, "mode", default="r")
    target = call.given(0, "file", "name") or call.given(-1, "fileobj")
    if target is None or target.kind in ("unknown", "method", "name"):
        return Value("file", "", labels_of(target) if target is not None else NO_LABELS)
    return opened(call.walk, target, mode.partition(":")[0] or "r")


def _unpack(call: Call) -> Value:
    call.walk.effect("read", call.path(0, "filename"))
    folder = call.path(1, "extract_dir") if call.given(1, "extract_dir") else call.walk.cwd or "."
    call.walk.effect("write", folder, recursive=True)
    return unknown()


def _pack(call: Call) -> Value:
    root = call.path(2, "root_dir") if call.given(2, "root_dir") else call.walk.cwd or "."
    ending = {"gztar": "tar.gz", "bztar": "tar.bz2", "xztar": "tar.xz"}.get(
        call.text(1, "format"), call.text(1, "format")
    )
    archive = f"{call.path(0, 'base_name')}.{ending}"
    call.walk.effect("read", root, recursive=True)
    call.walk.effect("write", archive)
    _keep(call.walk, archive, frozenset((FILE + root,)))
    return constant(archive)


# -- names of files ----------------------------------------------------------------------------------------------------


def listed(folder: str, pattern: str = "*", kind: str = "constant") -> Value:
    """Return the paths below a folder that a pattern stands for."""
    text = pattern.replace("**/", "").replace("**", "*").replace("*", UNKNOWN).replace("?", UNKNOWN)
    path = join_paths(folder, text) if folder else text
    return Value("list", [Value(kind, path if path.startswith(("/", ".", "~", HOME)) else f"./{path}")])


def _glob(call: Call) -> Value:
    folder = call.text(-1, "root_dir")
    return listed(folder, call.text(0, "pathname"))


def _listdir(call: Call) -> Value:
    del call
    return Value("list", [constant(f"./{UNKNOWN}")])


def _scandir(call: Call) -> Value:
    return listed(call.text(0, "path", default="."), kind="path")


def _walk(call: Call) -> Value:
    top = call.text(0, "top", default=".")
    names = Value("list", [constant(f"./{UNKNOWN}")])
    roots = [constant(top, NO_LABELS), constant(join_paths(top, UNKNOWN))]
    return Value("list", [Value("tuple", [root, names, names]) for root in roots])


def _path(call: Call) -> Value:
    parts = [text_of(each) for each in call.arguments]
    return Value("path", join_paths(*parts) if parts else ".", call.labels())


def _join(call: Call) -> Value:
    return constant(join_paths(*map(text_of, call.arguments)), call.labels())


def expanded(text: str) -> str:
    """``text`` with the home in the place of ``~``."""
    return HOME + text[1:] if text == "~" or text.startswith("~/") else text


def _expanduser(call: Call) -> Value:
    return constant(expanded(call.text(0, "path")), call.labels())


def _expandvars(call: Call) -> Value:
    import re

    from .python_attributes import variable

    def put(found: re.Match[str]) -> str:
        return text_of(variable(call.walk, constant(found[1] or found[2])))

    return constant(re.sub(r"\$(?:(\w+)|\{(\w+)\})", put, call.text(0, "path")), call.labels())


def _same_path(call: Call) -> Value:
    value = call.value(0, "path", "filename")
    return Value("constant", call.walk.path(value).replace("~", HOME, 1), value.labels) if call.walk.cwd else value


def _of_path(call: Call) -> Value:
    import posixpath

    value = call.value(0, "p", "path")
    text = text_of(value)
    if text == UNKNOWN:
        return unknown(labels_of(value))
    made = getattr(posixpath, call.name.rpartition(".")[2])(text)
    if isinstance(made, tuple):
        return Value("tuple", [constant(each, value.labels) for each in made])
    return constant(made, value.labels)


def _cwd(call: Call) -> Value:
    return Value("path" if call.name.startswith("pathlib") else "constant", call.walk.cwd or ".")


def _home(call: Call) -> Value:
    del call
    return Value("path", HOME)


def _temporary(call: Call) -> Value:
    word = call.name.rpartition(".")[2]
    path = f"/tmp/{UNKNOWN}"  # noqa: S108 - where the code would be given one
    if word == "mkstemp":
        return Value("tuple", [Value("file", path), constant(path)])
    if word == "gettempdir":
        return constant("/tmp")  # noqa: S108 - what the code would be told
    if word.endswith("TemporaryFile"):
        return Value("file", path)
    return constant(path)


def _database(call: Call) -> Value:
    """A file of sqlite3: its statements are told as the program's."""
    return Value("database", ["sqlite3", call.path(0, "database")])


FILES: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(
        "open io.open codecs.open os.open gzip.open bz2.open lzma.open file io.FileIO tokenize.open os.fdopen".split(),
        _open,
    ),
    **dict.fromkeys("gzip.GzipFile bz2.BZ2File lzma.LZMAFile".split(), _open),
    **dict.fromkeys(
        "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree libc.unlink libc.remove libc.rmdir "
        "distutils.dir_util.remove_tree send2trash.send2trash".split(),
        _remove,
    ),
    **dict.fromkeys(
        "os.rename os.renames os.replace shutil.move libc.rename distutils.file_util.move_file".split(), _move
    ),
    **dict.fromkeys(
        "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree distutils.dir_util.copy_tree "
        "distutils.file_util.copy_file".split(),
        _copy,
    ),
    "shutil.copyfileobj": _copy_file,
    "os.truncate": _write,
    "os.mknod": _write,
    **dict.fromkeys("os.mkdir os.makedirs os.utime os.mkfifo".split(), _touch),
    "os.symlink": _link,
    "os.link": _link,
    "linecache.getline": _read,
    "linecache.getlines": _read,
    "numpy.loadtxt": _read,
    "dotenv.dotenv_values": _read,
    "os.write": _os_write,
    "os.read": _os_read,
    "mmap.mmap": _same_file,
    "io.TextIOWrapper": _same_file,
    "fileinput.input": _input_files,
    "fileinput.FileInput": _input_files,
    "os.chdir": _chdir,
    "os.fchdir": _chdir,
    "os.chroot": _chdir,
    "contextlib.chdir": _chdir,
    **dict.fromkeys("zipfile.ZipFile tarfile.open tarfile.TarFile tarfile.TarFile.open".split(), _archive),
    "shutil.unpack_archive": _unpack,
    "shutil.make_archive": _pack,
    "sqlite3.connect": _database,
}

PATHS: dict[str, Callable[[Call], Value]] = {
    "glob.glob": _glob,
    "glob.iglob": _glob,
    "os.listdir": _listdir,
    "os.scandir": _scandir,
    "os.walk": _walk,
    "os.fwalk": _walk,
    **dict.fromkeys(
        [f"pathlib.{each}" for each in "Path PurePath PosixPath PurePosixPath WindowsPath PureWindowsPath".split()],
        _path,
    ),
    "os.path.join": _join,
    "os.path.expanduser": _expanduser,
    "os.path.expandvars": _expandvars,
    **dict.fromkeys(
        "os.path.abspath os.path.realpath os.fspath os.fsdecode os.fsencode os.path.normcase".split(), _same_path
    ),
    **dict.fromkeys(
        "os.path.normpath os.path.basename os.path.dirname os.path.splitext os.path.split".split(), _of_path
    ),
    **dict.fromkeys("os.getcwd os.getcwdb pathlib.Path.cwd pathlib.PosixPath.cwd".split(), _cwd),
    "pathlib.Path.home": _home,
    "pathlib.PosixPath.home": _home,
    **dict.fromkeys(
        [
            f"tempfile.{each}"
            for each in "mktemp mkdtemp mkstemp gettempdir NamedTemporaryFile TemporaryFile "
            "SpooledTemporaryFile TemporaryDirectory".split()
        ],
        _temporary,
    ),
}
