"""What every provider insists on holds for whatever conversation and whatever tools there are."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.drivers.pydantic_ai_messages import OUTPUT_TOOL, own_names, sent_name, whole, with_results

NAMES = st.text("abz019_-.:/", min_size=1, max_size=200) | st.sampled_from([OUTPUT_TOOL, "a" * 64, "a" * 65])


@st.composite
def conversations(draw):
    """Answers with calls, some of which have results, in any order, with messages of hooks in between."""
    messages = [Message(role="user", content="Go.")]
    for turn in range(draw(st.integers(0, 4))):
        ids = [f"c{turn}{number}" for number in range(draw(st.integers(0, 3)))]
        calls = tuple(ToolCall("t", id=each) for each in ids)
        messages.append(Message(role="assistant", content=f"answer {turn}", tool_calls=calls))
        results = [Message(role="tool", content=f"of {each}", name="t", tool_call_id=each) for each in ids]
        kept = [result for result in results if draw(st.booleans())]
        said = [Message(role="user", content=f"said {turn}")] * draw(st.integers(0, 2))
        messages += draw(st.permutations([*kept, *said]))
    return messages


@given(conversations())
def test_each_call_has_its_one_result_right_after_the_answer_and_nothing_else_is_lost(messages):
    sent = with_results(messages)
    for place, message in enumerate(sent):
        if message.role == "assistant":
            count = len(message.tool_calls)
            following = sent[place + 1 : place + 1 + count]
            assert [each.tool_call_id for each in following] == [call.id for call in message.tool_calls]
            assert all(each.role == "tool" for each in following)
    assert [each for each in sent if each.role != "tool"] == [each for each in messages if each.role != "tool"]
    assert all(each in sent for each in messages)
    assert sum(each.role == "tool" for each in sent) == sum(len(each.tool_calls) for each in messages)
    assert with_results(sent) == sent, "what is in order stays as it is"


@given(NAMES)
def test_a_tool_is_sent_under_a_name_that_all_providers_take(name):
    sent = sent_name(name)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", sent)
    assert sent != OUTPUT_TOOL
    assert sent_name(sent) == sent, "a plain name stays as it is"


@given(st.lists(NAMES, unique=True))
def test_whatever_a_tool_is_sent_as_leads_back_to_it(names):
    own = own_names([{"name": name} for name in names])
    assert [own[sent_name(name)] for name in names] == names


@given(st.text() | st.text(st.characters(categories=["Cs", "Lu"])))
def test_text_can_be_sent_and_whole_text_is_not_changed(text):
    sent = whole(text)
    sent.encode()
    assert sent == text or any("\ud800" <= each <= "\udfff" for each in text)
