import base64
import os
import shlex
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from making import ODD_ARGUMENTS

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, INPUT, NETWORK, SECRET, UNKNOWN, Data
from agent_hooks_guards.programs.formats import unescaped
from agent_hooks_guards.programs.outputs import output
from tables import tables

TABLES = tables(__file__)

CWD = "/home/someone/project"


def command(text, stdin=None, cwd=CWD, labels=None):
    argv = shlex.split(text) if isinstance(text, str) else text
    given_input = Data(stdin) if isinstance(stdin, str) else stdin
    return Command(argv[0], argv, stdin=given_input, cwd=cwd, labels=labels or {})


def printed(text, stdin="", **given_too):
    return output(command(text, stdin, **given_too)).text


def labels_of(text, stdin=None, files=None, is_secret=None):
    return set(output(command(text, stdin), files, is_secret).labels)


@pytest.mark.parametrize(("text", "expected"), TABLES["what_programs_print_by_themselves"])
def test_what_programs_print_by_themselves(text, expected):
    assert printed(text) == expected


@pytest.mark.parametrize(("text", "stdin", "expected"), TABLES["what_filters_make_of_known_text"])
def test_what_filters_make_of_known_text(text, stdin, expected):
    assert printed(text, stdin) == expected


@pytest.mark.parametrize(("text", "stdin", "expected"), TABLES["what_is_not_known_stays_so"])
def test_what_is_not_known_stays_so(text, stdin, expected):
    assert printed(text, stdin) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl https://a.example", {NETWORK}),
        ("curl -so- https://a.example", {NETWORK}),
        ("wget -qO- a.example", {NETWORK}),
        ("http a.example", {NETWORK}),
        ("nc a.example 4444", {NETWORK}),
        ("dig +short txt a.example", {NETWORK}),
        ("ssh a.example cat x", {NETWORK}),
        ("aws s3 cp s3://b/k -", {NETWORK}),
        ("gh api repos/a/b", {NETWORK}),
        ("aws s3 ls", set()),
        ("env", {ENVIRONMENT}),
        ("printenv", {ENVIRONMENT}),
        ("printenv HOME", set()),
        ("set", {ENVIRONMENT}),
        ("export -p", {ENVIRONMENT}),
        ("declare -x", {ENVIRONMENT}),
        ("export A=b", set()),
        ("cat /proc/self/environ", {ENVIRONMENT}),
        ("gh auth token", {SECRET}),
        ("op read op://vault/item", {SECRET}),
        ("vault kv get secret/x", {SECRET}),
        ("security find-generic-password -w -s x", {SECRET}),
        ("aws secretsmanager get-secret-value --secret-id x", {SECRET}),
        ("gcloud auth print-access-token", {SECRET}),
        ("kubectl get secret x -o yaml", {SECRET}),
        ("kubectl get pods", set()),
        ("gcloud projects list", set()),
        ("pass show mail", {SECRET}),
        ("gpg -d x.gpg", {SECRET}),
        ("gpg --export-secret-keys", {SECRET}),
        ("git credential fill", {SECRET}),
        ("git log", set()),
        ("read x", set()),
        ("cat", {INPUT}),
        ("rg x", set()),
        ("grep -r x", set()),
    ],
)
def test_where_what_is_printed_comes_from(text, expected):
    assert labels_of(text) == expected


@pytest.mark.parametrize("text", TABLES["a_filter_passes_labels_on"])
def test_a_filter_passes_labels_on(text):
    assert SECRET in labels_of(text, Data(UNKNOWN, frozenset({SECRET})))
    assert SECRET in labels_of(text, Data("known\n", frozenset({SECRET})))


@pytest.mark.parametrize("text", ["wc -l", "sha256sum", "whoami"])
def test_a_count_is_no_secret(text):
    assert labels_of(text, Data(UNKNOWN, frozenset({SECRET}))) == set()


@pytest.mark.parametrize(
    "text", ["base64 -d", "xxd -r -p", "gunzip", "openssl enc -d -aes-256-cbc", "zstd -d", "uudecode"]
)
def test_a_decoder_says_so(text):
    assert DECODED in labels_of(text, Data(UNKNOWN))
    assert DECODED in labels_of(text, Data("726d"))


def test_words_bring_their_labels():
    found = output(command("echo x", labels={1: frozenset({SECRET})}))
    assert found == Data("x\n", frozenset({SECRET}))
    assert output(command("printf %s x", labels={2: frozenset({NETWORK})})).labels == {NETWORK}


def test_a_file_written_on_the_way_is_known():
    known = {f"{CWD}/x": Data("rm -rf /\n", frozenset({NETWORK})), f"{CWD}/y": Data("ls\n")}
    for text in ("cat x", "cat ./x", f"cat {CWD}/x", "tac x", "sort x", "dd if=x", "curl file://./x"):
        found = output(command(text), known.get)
        assert found == Data("rm -rf /\n", frozenset({NETWORK}))
    assert output(command("cat x y"), known.get) == Data("rm -rf /\nls\n", frozenset({NETWORK}))
    assert output(command("cat z"), known.get) == Data(UNKNOWN)
    assert output(command("cat x -", "-\n"), known.get).text == "rm -rf /\n-\n"


def test_a_secret_file_is_one_however_it_is_read():
    def is_secret(path):
        return path == f"{CWD}/.env"

    for text in ("cat .env", "head -1 .env", "grep KEY .env", "base64 .env", "awk '{print}' .env", "tar cf - .env"):
        assert SECRET in labels_of(text, None, None, is_secret)
    assert SECRET in labels_of("frobnicate --input .env", None, None, is_secret)
    assert SECRET in labels_of("git show HEAD:.env", None, None, is_secret)
    for text in ("ls .env", "stat .env", "wc -l .env", "cat .envrc", "echo .env"):
        assert labels_of(text, None, None, is_secret) == set()


@pytest.mark.parametrize("text", ["yes", "yes rm", "seq 1000000", "printf %999999999s x", "printf %.999999999d 1"])
def test_what_never_ends_is_cut(text):
    found = printed(text)
    assert len(found) < 70_000
    assert found.endswith(UNKNOWN)


def test_escapes_of_ansi_c_quotes():
    assert unescaped(r"\x72\155 \u002d\'\"\?\\\e") == "rm -'\"?\\\x1b"


def test_no_arguments_raise_in_any_program_with_a_declared_stdout():
    table = declarations()
    names = [name for name, entry in table.entries.items() if "prints" in entry and " " not in name]
    assert len(names) > 100
    for name in (*names, *(each for each, of in table.aliases.items() if of in names)):
        for words in ODD_ARGUMENTS:
            for text in ("", "a\n", UNKNOWN, "\ud800\udc80\0\n\n", "é" * 10):
                made = Command(name, [name, *words], stdin=Data(text), cwd=CWD)
                assert isinstance(output(made, lambda _: None, lambda _: True), Data)


# Against the programs themselves

_PLACE = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
_ONCE = settings(max_examples=60)
_text = st.text(st.sampled_from("abrm -/\\\n\t0127:,%'\"x[]*.^$&é"), max_size=40)
_line = st.text(st.sampled_from("abrm -/:,. 012"), max_size=20)
_lines = st.lists(_line, max_size=5).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "".join(f"{each}\n" for each in lines)])
)


def real(argv, stdin=""):
    """What the program prints, None if it complains."""
    done = subprocess.run(
        argv, input=stdin.encode("utf-8", "surrogateescape"), capture_output=True, env=_PLACE, check=False, timeout=20
    )
    if done.returncode or done.stderr:
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def agrees(argv, stdin="", program=None):
    """Whether what is told of a command is what it prints, as far as either is known."""
    told = printed(argv, stdin)
    truth = real(program or argv, stdin)
    assert truth is None or UNKNOWN in told or told == truth
    return UNKNOWN not in told


_escape = st.sampled_from(
    [
        "\\",
        "\\n",
        "\\t",
        "\\x72",
        "\\x6",
        "\\xg",
        "\\0162",
        "\\162",
        "\\0",
        "\\c",
        "\\u0072",
        "\\U72",
        "\\e",
        "\\E",
        "\\\\",
        "\\q",
        "\\'",
        '\\"',
        "\\?",
        "\\a",
        "\\8",
        "a",
        "7",
        " ",
        "é",
        "\\xc3\\xa9",
        "\\303",
        "%%",
    ]
)


@_ONCE
@given(st.lists(st.sampled_from(["-n", "-e", "-E", "-ne", "-", "--", "-x"]), max_size=3), st.lists(_escape, max_size=8))
@example(["-e"], ["\\c", "a"])
def test_echo_is_as_in_bash(options, parts):
    argv = ["echo", *options, "".join(parts), "b"]
    assert agrees(argv, program=["bash", "-c", '"$@"', "bash", *argv])


@_ONCE
@given(
    st.lists(
        _escape | st.sampled_from(["%s", "%b", "%d", "%x", "%5s", "%-4s|", "%03d", "%.2s", "%c", "%i", "%+d", "%o"]),
        max_size=6,
    ),
    st.lists(
        st.sampled_from(["", "a", "rm", "-rf", "0x1f", "010", "'A", "42", "-7", "a\\nb", "\\0101", "é"]), max_size=4
    ),
)
def test_printf_is_as_in_bash(parts, arguments):
    argv = ["printf", "--", "".join(parts), *arguments]
    agrees(argv, program=["bash", "-c", '"$@"', "bash", *argv])


@_ONCE
@given(st.lists(_escape, max_size=8))
def test_ansi_c_quotes_are_as_in_bash(parts):
    text = "".join(parts)
    rest = text.replace("\\\\", "")  # a backslash that is escaped escapes no quote
    if rest.count("\\'") == rest.count("'") and not rest.endswith("\\"):
        truth = real(["bash", "-c", f"printf %s $'{text}'"])
        told = unescaped(text)
        assert "\0" in told or UNKNOWN in told or truth is None or told == truth


_set = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "r",
            "m",
            "a-m",
            "0-9",
            "[:alpha:]",
            "[:lower:]",
            "[:upper:]",
            "[:space:]",
            "\\n",
            "\\\\",
            "-",
            "\\157",
        ]
    )
    | st.sampled_from(["[x*]", "[y*2]", "[=a=]", "/", " ", "."]),
    min_size=1,
    max_size=3,
).map("".join)


@_ONCE
@given(
    st.sampled_from(["", "-d", "-s", "-c", "-cd", "-cs", "-t", "-ds"]), st.lists(_set, min_size=1, max_size=2), _lines
)
@example("", ["A-Za-z", "N-ZA-Mn-za-m"], "ez -es /")
def test_tr_is_as_it_is(option, sets, text):
    agrees(["tr", *filter(None, [option]), "--", *sets], text)


@_ONCE
@given(st.text(st.sampled_from("cm0gLXJmIC8=\n+/A"), max_size=24))
def test_decoding_is_as_it_is(text):
    agrees(["base64", "-d"], text)
    agrees(["base32", "-d"], text.upper())


@_ONCE
@given(st.text(st.sampled_from("0123456789abcdefA \n"), max_size=24))
def test_hexadecimal_is_as_it_is(text):
    agrees(["xxd", "-r", "-p"], text)


@_ONCE
@given(st.binary(max_size=60))
def test_a_dump_comes_back(data):
    text = data.decode("utf-8", "surrogateescape")
    dump = real(["xxd"], text)
    assert UNKNOWN in text or printed("xxd -r", dump) == text


@_ONCE
@given(st.integers(-3, 12), st.integers(-3, 3), st.integers(-3, 12), st.sampled_from([[], ["-w"], ["-s,"]]))
def test_seq_is_as_it_is(first, step, last, options):
    agrees(["seq", *options, "--", str(first), str(step), str(last)])


def test_base64_of_other_makers_is_read():
    assert printed("base64 -d", base64.encodebytes(b"rm -rf / " * 20).decode()) == "rm -rf / " * 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [("dirname /usr/bin/rm", "/usr/bin\n"), ("dirname rm", ".\n"), (f"dirname /x/{UNKNOWN}", UNKNOWN)],
)
def test_the_folder_of_a_path_is_known(text, expected):
    assert printed(text) == expected
