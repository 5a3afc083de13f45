"""What a command would run, followed through variables, functions, branches, loops, pipes and files."""

from __future__ import annotations

import pytest

from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.model.values import UNKNOWN, Data
from agent_hooks_guards.places.paths import Place
from tables import tables

TABLES = tables(__file__)

PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")


def runs(text):
    """The commands that would run, each as one text, an unknown part as …."""
    return [" ".join(each.argv).replace(UNKNOWN, "…") for each in analyse(text, PLACE).commands]


def effects(text, kind):
    """The paths of the effects of a kind."""
    return [each.path.replace(UNKNOWN, "…") for each in analyse(text, PLACE).effects if each.kind == kind]


def labels(text, kind):
    """Where what is written, run or sent comes from."""
    return frozenset().union(*(each.labels for each in analyse(text, PLACE).effects if each.kind == kind))


def doubts(text):
    return [each.kind for each in analyse(text, PLACE).doubts]


@pytest.mark.parametrize("text", TABLES["what_goes_to_an_open_file_arrives_there"])
def test_what_goes_to_an_open_file_arrives_there(text):
    assert "deluge all" in runs(text)


@pytest.mark.parametrize("text", TABLES["what_goes_elsewhere_does_not_go_to_where_the_shell_prints"])
def test_what_goes_elsewhere_does_not_go_to_where_the_shell_prints(text):
    assert "deluge all" not in runs(text)


def test_a_file_that_is_only_opened_is_not_written():
    assert effects("vim -c 'set nu' f", "write") == []


@pytest.mark.parametrize("text", TABLES["code_that_arrives_later_is_a_doubt"])
def test_code_that_arrives_later_is_a_doubt(text):
    assert "unknown-code" in doubts(text)


def test_what_only_goes_through_a_named_pipe_does_not_run():
    assert "deluge all" not in runs("mkfifo p; cat p > x & echo deluge all > p")


@pytest.mark.parametrize("text", TABLES["what_an_inline_code_prints_is_what_runs"])
def test_what_an_inline_code_prints_is_what_runs(text):
    assert "deluge all" in runs(text)


@pytest.mark.parametrize(("text", "expected"), TABLES["a_command_is_followed_to_what_runs"])
def test_a_command_is_followed_to_what_runs(text, expected):
    assert expected in runs(text)


@pytest.mark.parametrize("text", TABLES["what_is_only_text_does_not_run"])
def test_what_is_only_text_does_not_run(text):
    assert not any(each.startswith("deluge") for each in runs(text))


def test_every_round_of_a_loop_runs():
    assert runs("for x in a b c; do deluge $x; done") == ["deluge a", "deluge b", "deluge c"]


def test_both_values_of_a_variable_are_tried_where_branches_meet():
    assert {"deluge a", "deluge b"} <= set(runs("x=a; if t; then x=b; fi; deluge $x"))
    assert {"deluge a", "deluge b"} <= set(runs("x=a; t && x=b; deluge $x"))


def test_a_file_that_may_have_been_overwritten_may_still_be_what_it_was():
    assert "deluge all" in runs("echo deluge all > s; false && echo true > s; sh s")


def test_a_subshell_keeps_its_variables_and_folder_to_itself():
    found = analyse("x=a; (x=b; cd /tmp); deluge $x", PLACE).commands[-1]
    assert (found.argv, found.cwd) == (["deluge", "a"], "/home/dev/app")


def test_the_folder_is_followed():
    assert effects("cd ../other && echo x > f", "write") == ["/home/dev/other/f"]
    assert effects("cd /srv; cd -; echo x > f", "write") == ["/home/dev/app/f"]
    assert effects("pushd /srv; popd; echo x > f", "write") == ["/home/dev/app/f"]
    assert effects("cd; echo x > f", "write") == ["/home/dev/f"]


def test_a_variable_in_lower_case_that_nobody_set_is_empty():
    assert runs("delu${x}ge all") == ["deluge all"]


def test_a_variable_of_the_environment_is_not_known():
    assert runs("deluge $BUILD_DIR/x") == ["deluge …/x"]


def test_what_unknown_code_prints_is_not_known_and_no_code_prints_nothing():
    assert runs('deluge "$(sh -c "$CODE")"/x')[-1] == "deluge …/x"
    assert runs('deluge "$(sh -c "")"/x')[-1] == "deluge /x"


@pytest.mark.parametrize("text", ["deluge ${x:?}/y", "deluge ${BUILD_DIR:?unset}/y", ': "${X:?}"; deluge $X/y'])
def test_a_variable_that_must_have_a_text_is_not_taken_for_empty(text):
    assert runs(text)[-1] == "deluge ……/y"


def test_a_variable_that_must_have_a_text_keeps_the_one_that_it_has():
    assert runs("x=/; deluge ${x:?}y") == ["deluge /y"]
    assert runs("sh -c 'deluge ${1:?}' _ all")[-1] == "deluge all"


@pytest.mark.parametrize("text", ["$CMD all", '"$CMD" all', "$(make-a-name) all", '"$@"$CMD'])
def test_a_program_that_is_not_known_is_a_doubt(text):
    assert "unknown-program" in doubts(text)


@pytest.mark.parametrize(
    "text",
    ['eval "$CODE"', 'bash -c "$CODE"', "make-code | sh", "sh <(make-code)", 'python3 -c "$CODE"', 'ssh h "$CODE"'],
)
def test_code_that_is_not_known_is_a_doubt(text):
    assert "unknown-code" in doubts(text)


@pytest.mark.parametrize("text", ["if", "echo 'x", "a && && b", "for x in"])
def test_what_bash_would_not_read_is_a_doubt(text):
    assert "unreadable" in doubts(text)


def test_more_than_is_looked_at_is_a_doubt():
    assert doubts("x() { y; y; }; y() { z; z; }; " + "x; " * 2000) == ["too-much"]
    assert "too-much" in doubts("eval " * 200 + "deluge")


@pytest.mark.parametrize(("text", "kind", "expected"), TABLES["where_data_comes_from_goes_along_with_it"])
def test_where_data_comes_from_goes_along_with_it(text, kind, expected):
    assert expected in labels(text, kind)


@pytest.mark.parametrize(("text", "kind"), TABLES["data_without_a_past_has_no_labels"])
def test_data_without_a_past_has_no_labels(text, kind):
    assert labels(text, kind) == frozenset()


@pytest.mark.parametrize(
    "text",
    ["b() { b | b & }; b", "b() { b & b; }; b", "echo '$0 & $0' > s; sh s", "f(){ g & }; g(){ f & }; f"],
)
def test_what_runs_itself_beside_itself_is_a_fork_bomb(text):
    assert "fork" in {each.kind for each in analyse(text, PLACE).effects}


@pytest.mark.parametrize("text", ["f() { f; }; f", "f() { [ $1 = 0 ] || f 0; }; f 3"])
def test_what_only_calls_itself_is_none(text):
    assert "fork" not in {each.kind for each in analyse(text, PLACE).effects}


def test_a_loop_without_an_end_is_told_from_one_that_waits():
    assert analyse("while true; do deluge & done", PLACE).commands[-1].endless
    assert not analyse("while true; do deluge & sleep 1; done", PLACE).commands[-2].endless
    assert not analyse("while read x; do deluge & done", PLACE).commands[-1].endless


def test_a_variable_that_is_set_for_a_command_is_set_for_what_it_runs():
    (_, inner) = analyse("A=b bash -c 'deluge all'", PLACE).commands
    assert inner.assignments == {"A": Data("b")}
    (*_, inner) = analyse("A=b ssh h 'deluge all'", PLACE).commands
    assert inner.assignments == {}
    (*_, after) = analyse("A=b true; deluge all", PLACE).commands
    assert after.assignments == {}
    assert "deluge all" in runs("GIT_PAGER='deluge all' bash -c 'git log'")


@pytest.mark.parametrize("text", ["GIT_PAGER='git diff' git log", "export GIT_EDITOR='git diff'; git commit"])
def test_what_a_variable_runs_is_not_run_by_it_again(text):
    assert runs(text).count("git diff") == 1
    assert doubts(text) == []


def test_a_command_tells_what_runs_it_and_where():
    found = analyse("sudo bash -c 'ssh host deluge'", PLACE).commands[-1]
    assert found.argv == ["deluge"]
    assert found.root
    assert found.host == "remote"
    assert len(found.via) == 3


@pytest.mark.parametrize(("text", "expected"), TABLES["what_code_writes_and_pipes_is_followed"])
def test_what_code_writes_and_pipes_is_followed(text, expected):
    assert expected in runs(text)


@pytest.mark.parametrize(("text", "kind", "expected"), TABLES["where_data_comes_from_goes_through_code"])
def test_where_data_comes_from_goes_through_code(text, kind, expected):
    assert expected in labels(text, kind)


def test_a_link_is_what_it_leads_to():
    assert [each.program for each in analyse("ln -s /bin/deluge d; ./d all", PLACE).commands] == ["ln", "deluge"]
    assert effects("ln -s / r; rm -rf r/etc", "delete") == ["/etc"]


def test_a_loop_that_counts_ends():
    assert runs("for ((i=0; i<3; i++)); do echo $i; done") == ["echo 0", "echo 1", "echo 2"]
    assert runs("i=0; while ((i < 2)); do echo $i; i=$((i+1)); done") == ["echo 0", "echo 1"]


def test_a_loop_of_many_rounds_is_walked_for_some_and_for_any():
    found = runs("for i in {1..9999}; do echo $i; done")
    assert found[:2] == ["echo 1", "echo 2"]
    assert found[-1] == "echo …"
    assert len(found) < 100
    assert doubts("for i in {1..9999}; do echo $i; done") == []


def test_what_a_loop_prints_that_is_not_walked_to_its_end_is_not_known():
    assert "unknown-code" in doubts("for ((i=0; i<9999; i++)); do printf ' '; done | sh")


def test_what_a_loop_makes_that_is_not_walked_to_its_end_is_not_known():
    assert "unknown-code" in doubts('for ((i=0; i<999; i++)); do x="a$x"; done; eval "$x"')


@pytest.mark.parametrize("text", TABLES["a_nul_in_code_is_nothing_to_a_shell"])
def test_a_nul_in_code_is_nothing_to_a_shell(text):
    assert "deluge all" in runs(text)


@pytest.mark.parametrize("text", TABLES["a_function_that_calls_itself_is_followed_and_what_stays_the_same_is_known"])
def test_a_function_that_calls_itself_is_followed_and_what_stays_the_same_is_known(text):
    assert "deluge all" in runs(text)


@pytest.mark.parametrize("text", TABLES["a_function_that_calls_itself_often_is_not_doubted"])
def test_a_function_that_calls_itself_often_is_not_doubted(text):
    assert not doubts(text)


@pytest.mark.parametrize(
    "text",
    [
        "echo 'deluge all' | sed 'w y.sh'; sh y.sh",
    ],
)
def test_a_file_that_sed_writes_holds_its_input(text):
    assert "deluge all" in runs(text)
