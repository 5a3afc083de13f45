from __future__ import annotations

import pytest

from agent_hooks.shell.syntax import Simple
from agent_hooks.shell.walk import literal, nodes
from shell_trees import parse

TEXT = """
a "$(b ${X:-$(c)})" > "$(d)"; if e; then for x in $(f); do g; done; fi
h() { i; }; case $(j) in k) l <(m);; esac; [[ -n $(n) ]]; (( $(o) )); A[$(p)]=(`q`)
r <<E | (s)
$(t)
E
"""


def test_every_command_is_found_wherever_it_stands():
    found = {node.raw[0] for node in nodes(parse(TEXT)) if isinstance(node, Simple) and node.raw}
    assert found == set("abcdefgijlmnopqrst")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ab", "ab"), ("'a b'c", "a bc"), ("*.py", "*.py"), ("$'a\\n'", "a\n"), ("a$x", None), ('"$(a)"', None)],
)
def test_the_text_of_a_literal_word(text, expected):
    assert literal(parse(text).items[0].node.words[0]) == expected
