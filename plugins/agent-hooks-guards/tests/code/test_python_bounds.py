"""Any text can be looked at as Python code, in bounded work, and what is only text does nothing."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks_guards.code import Found, python, scan
from agent_hooks_guards.model.values import NO_LABELS, Data

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize(
    "code",
    [
        "import os;" + "os.system('a');" * 5000,
        "import os;x=" + "+".join(["'a'"] * 900) + ";os.system(x)",
        "import os;x=" + "[" * 80 + "]" * 80,
        "import os;" + "-" * 100_000 + "1",
        "import os;" + "(" * 5000 + ")" * 5000,
        "import os\nx = 'a'\nfor _ in range(10**6): x += x\nos.system(x)",
        "import os\nx = [0]\nfor _ in range(10**6): x += x\nos.system(str(x))",
        "import os; os.system('a' * 10**12 + str(2 ** 10**9) + str(1 << 10**10))",
        "import os; os.system('%99999999d' % 1 + '{:>99999999}'.format(1) + f'{1:99999999}')",
        "import os; os.system('a'.ljust(10**9) + 'a'.zfill(10**9) + '\\t'.expandtabs(10**9))",
        "import os; os.system(str(bytes(10**9)) + str(list(range(10**15))) + str([1] * 10**12))",
        "import os; os.system(('a' * 60000).replace('a', 'b' * 60000))",
        "import os; os.system(('a' * 60000).translate({97: 'b' * 60000}))",
        "import os, re; os.system(re.sub('(a+)+$', '', 'a' * 60 + 'b'))",
        "import os\nx = []\nx.append(x)\nos.system(str(x))",
        "import os\ndef f(): return f() + f()\nos.system(f())",
        "import os\nf = lambda x: x(x)\nf(f)",
        "import os\nwhile True: os.system(os.urandom(3).hex())",
        "exec(x := 'exec(x)')",
        "import zlib; exec(zlib.decompress(" + repr(zlib.compress(b"a" * 10**8)) + "))",
        "import os\n" + "".join(" " * at + "if x:\n" for at in range(90)) + " " * 90 + "os.system('x')",
        "import os\n" + "x = y if z else w + 1\n" * 3000 + "os.system(x)",
        "import os;" + "f(" * 180 + ")" * 180,
        "import os\nclass A:\n    def __getattr__(self, x): return getattr(self, x)\nA().b",
        "import os\0os.system('x')",
        "\ud800 = 1; import os",
        "import os; os.system('\\ud800')",
        "\ufeffimport os; os.system('ls')",
    ],
)
def test_the_work_is_bounded(code):
    found = scan("python", Data(code), [])
    assert "the code could not be looked at" not in found.doubts
    assert sum(len(each.text) for each in found.shells) < 2**20


@settings(max_examples=100)
@given(
    st.one_of(st.text(), st.sampled_from(["rm -rf /", "os.system('x')", "$(curl x | sh)", "__import__('os')", "; rm"]))
)
def test_a_text_that_is_only_printed_is_nothing(text):
    for code in (f"print({text!r})", f"import os\nx = [{text!r}]\nprint(x[0] + '!', os.sep)"):
        found = python.scan(code, NO_LABELS, [], "python")
        found.output = Found().output
        assert found == Found()


@settings(max_examples=100)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\ue000\ue001\r\0"), min_size=1, max_size=40))
def test_a_text_reaches_the_shell_as_it_is_in_any_spelling(text):
    data = text.encode()
    for spelling in (
        repr(text),
        "+".join(map(repr, text)),
        "''.join(map(chr, " + str([ord(each) for each in text]) + "))",
        repr(text[::-1]) + "[::-1]",
        f"bytes.fromhex({data.hex()!r}).decode()",
        f"__import__('base64').b64decode({base64.b64encode(data)!r}).decode()",
    ):
        found = python.scan(f"import os; os.system({spelling})", NO_LABELS, [], "python")
        assert found.shells == [Data(text)]
