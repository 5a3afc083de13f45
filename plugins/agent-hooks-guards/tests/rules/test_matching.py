"""Which rules a command breaks, and what that leads to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.model.actions import Analysis, Command, Doubt, Effect
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN, Data
from agent_hooks_guards.places.paths import Place
from agent_hooks_guards.rules.criteria import like
from agent_hooks_guards.rules.indexing import FOLDER, Index, RuleText, indexed
from agent_hooks_guards.rules.loading import read_family
from agent_hooks_guards.rules.matching import judge, severity_decision

PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")
OWN_RULES = [RuleText(*row) for row in load_tables(FOLDER)["rules"]]
OWN = Index(OWN_RULES)


def rules(*matches, name="one"):
    table = {
        "family": "test",
        "title": "For tests",
        "rules": [{"id": name, "severity": "high", "reason": "Because.", "instead": "Do not.", "match": list(matches)}],
    }
    return indexed([read_family("test.toml", table)])


def command(text, **given):
    words = text.split(" ")
    return Command(given.pop("program", words[0]), words, cwd="/home/dev/app", fragment=text, **given)


def is_broken(match, *commands, effects=(), doubts=()):
    analysis = Analysis(list(commands), list(effects), list(doubts))
    return bool(judge(analysis, rules(match), PLACE))


@pytest.mark.parametrize(
    ("match", "text", "expected"),
    [
        ({"program": ["git"]}, "git status", True),
        ({"program": ["git"]}, "gitk status", False),
        ({"program": ["python3"]}, "python3.12 x.py", True),
        ({"program": ["mkfs*"]}, "mkfs.ext4 x", True),
        ({"program": ["mkfs*"]}, "xmkfs.ext4 x", False),
        ({"program": ["*"]}, "whatever", True),
        ({"program": ["*"], "not_program": ["ls", "cat"]}, "cat x", False),
        ({"program": ["*"], "not_program": ["ls", "cat"]}, "tac x", True),
        ({"program": ["git"], "subcommand": ["push"]}, "git -C repo push", True),
        ({"program": ["git"], "subcommand": ["push"]}, "git stash push", False),
        ({"program": ["git"], "subcommand": ["push origin"]}, "git push -f origin main", True),
        ({"program": ["git"], "subcommand": ["push origin"]}, "git push upstream origin", False),
        ({"program": ["aws"], "subcommand": ["ec2 terminate-*"]}, "aws ec2 terminate-instances", True),
        ({"program": ["aws"], "subcommand": ["* terminate-*"]}, "aws --region eu ec2 terminate-instances", True),
        ({"program": ["git"], "subcommand": ["push"]}, f"git {UNKNOWN}", True),
        ({"program": ["git"], "subcommand": ["push"]}, f"git -C repo pu{UNKNOWN} origin", True),
        ({"program": ["git"], "subcommand": ["push"]}, "git pu*", True),
        ({"program": ["git"], "subcommand": ["push"]}, "git p?sh", True),
        ({"program": ["git"], "subcommand": ["push"]}, f"git st{UNKNOWN}", False),
        ({"program": ["git"], "subcommand": ["push"]}, f"git log {UNKNOWN}", False),
        ({"program": ["git"], "subcommand": ["push origin"]}, f"git {UNKNOWN}", True),
        ({"program": ["git"], "subcommand": ["push origin"]}, f"git push {UNKNOWN}", True),
        ({"program": ["git"], "subcommand": ["push origin"]}, f"git pull {UNKNOWN}", False),
        ({"program": ["aws"], "subcommand": ["ec2 terminate-*"]}, f"aws ec2 {UNKNOWN}", True),
        ({"program": ["tool"], "subcommand": ["** delete"]}, f"tool list {UNKNOWN}", False),
        ({"program": ["tool"], "subcommand": ["** delete"]}, "tool delete", True),
        ({"program": ["tool"], "subcommand": ["** delete"]}, "tool a b c delete x", True),
        ({"program": ["tool"], "subcommand": ["** delete"]}, "tool a b c", False),
        ({"program": ["tool"], "subcommand": ["FlushAll"]}, "tool FLUSHALL", True),
        ({"program": ["tool"], "subcommand": ["a"], "not_subcommand": ["a b"]}, "tool a c", True),
        ({"program": ["tool"], "subcommand": ["a"], "not_subcommand": ["a b"]}, "tool a b", False),
        ({"program": ["git"], "options": ["--hard"]}, "git reset --har", True),
        ({"program": ["rm"], "options": ["-r|--recursive", "-f|--force"]}, "rm -rf x", True),
        ({"program": ["rm"], "options": ["-r|--recursive", "-f|--force"]}, "rm -r x", False),
        ({"program": ["rm"], "without": ["-i"]}, "rm -ri x", False),
        ({"program": ["curl"], "options": ["-X=DELETE|--request=DELETE"]}, "curl -XDELETE u", True),
        ({"program": ["curl"], "options": ["-X=DELETE|--request=DELETE"]}, "curl --request delete u", True),
        ({"program": ["curl"], "options": ["-X=DELETE|--request=DELETE"]}, "curl -X GET u", False),
        ({"program": ["dd"], "options": ["of=/dev/*"]}, "dd if=x of=/dev/sda", True),
        ({"program": ["tool"], "operand": ["*.log"]}, "tool a.txt b.log", True),
        ({"program": ["tool"], "operand": ["*.log"]}, "tool a.txt", False),
        ({"program": ["tool"], "not_operand": ["*.log"]}, "tool a.txt b.log", False),
        ({"program": ["tool"], "operand": ["[*]"]}, "tool *", True),
        ({"program": ["tool"], "operand": ["[*]"]}, "tool a", False),
        ({"program": ["tool"], "operand": [""]}, "tool ", True),
        ({"program": ["tool"], "operands": {"max": 0}}, "tool -x", True),
        ({"program": ["tool"], "operands": {"min": 2}}, "tool a", False),
        ({"program": ["tool"], "operands": {"min": 2, "max": 2}}, "tool a b", True),
        ({"program": ["git"], "operands_after_dashes": {"min": 1}}, "git checkout -- x", True),
        ({"program": ["git"], "operands_after_dashes": {"min": 1}}, "git checkout x --", False),
        ({"program": ["git"], "operands_after_dashes": {"min": 1}}, "git checkout x", False),
        ({"program": ["tool"], "path": ["system"]}, "tool a /etc/hosts", True),
        ({"program": ["tool"], "path": ["system"]}, "tool etc/hosts", False),
        ({"program": ["tool"], "not_path": ["workspace"]}, "tool src /etc", False),
        ({"program": ["tool"], "path": ["secret&workspace"]}, "tool .env", True),
        ({"program": ["tool"], "path": ["secret&workspace"]}, "tool ~/.ssh/id_rsa src/a", False),
        ({"program": ["tool"], "text": "^a+$"}, "tool b aaa", True),
        ({"program": ["tool"], "text": "tool"}, "tool b", False),
        ({"program": ["psql"], "sql": ["drop"]}, "psql -cDROP\tTABLE\ta", True),
        ({"sql": ["drop"]}, "psql -cDROP\tTABLE\ta", True),
        ({"sql": ["drop"]}, "psql -cSELECT\t1", False),
        ({"program": ["*"], "is_known": True}, "rm a", True),
        ({"program": ["*"], "is_known": True}, "cd a", True),
        ({"program": ["*"], "is_known": False}, "frobnicate a", True),
        ({"program": ["*"], "is_known": False}, "rm a", False),
        ({"program": ["rm"]}, "rm --help", False),
    ],
)
def test_words_of_a_command(match, text, expected):
    assert is_broken(match, command(text)) == expected


@pytest.mark.parametrize(
    ("match", "given_", "expected"),
    [
        ({"via": ["sudo|doas"]}, {"via": ("doas",)}, True),
        ({"via": ["sudo|doas"]}, {"via": ("env",)}, False),
        ({"via": ["sudo", "bash"]}, {"via": ("sudo", "bash -c")}, True),
        ({"via": ["sudo", "bash"]}, {"via": ("sudo",)}, False),
        ({"not_via": ["ssh", "docker"]}, {"via": ("ssh",)}, False),
        ({"not_via": ["ssh", "docker"]}, {"via": ("sudo",)}, True),
        ({"host": ["", "remote"]}, {"host": "container"}, False),
        ({"host": ["", "remote"]}, {"host": "remote"}, True),
        ({"root": True}, {"root": True}, True),
        ({"root": False}, {"root": True}, False),
        ({"background": True, "endless": True}, {"background": True, "endless": True}, True),
        ({"background": True, "endless": True}, {"background": True}, False),
        ({"assigns": ["LD_*=*"]}, {"assignments": {"LD_PRELOAD": Data("x")}}, True),
        ({"assigns": ["A=1"]}, {"assignments": {"A": Data("12")}}, False),
        ({"not_assigns": ["A=1"]}, {"assignments": {"A": Data("12")}}, True),
        ({"not_assigns": ["A=1"]}, {"assignments": {"A": Data("1")}}, False),
        ({"not_assigns": ["A=1"]}, {}, True),
        ({"stdin": ["network"]}, {"stdin": Data("x", frozenset(("network",)))}, True),
        ({"stdin": ["network"]}, {"stdin": Data("x")}, False),
        ({"stdin": ["network"]}, {}, False),
        ({"from": ["secret"]}, {"labels": {1: frozenset(("secret",))}}, True),
        ({"from": ["secret"]}, {"labels": {0: frozenset(("decoded", "secret"))}}, True),
        ({"from": ["secret"]}, {"labels": {1: frozenset(("decoded",))}}, False),
        ({"not_from": ["decoded"]}, {"labels": {1: frozenset(("decoded",))}}, False),
        ({"text": "two"}, {"stdin": Data("one two three")}, True),
    ],
)
def test_circumstances_of_a_command(match, given_, expected):
    assert is_broken({"program": ["tool"], **match}, command("tool x", **given_)) == expected


@pytest.mark.parametrize(
    ("match", "given_", "expected"),
    [
        ({"effect": ["delete"]}, {}, True),
        ({"effect": ["write", "delete"]}, {}, True),
        ({"effect": ["read"]}, {}, False),
        ({"path": ["system"]}, {}, True),
        ({"path": ["home"]}, {}, False),
        ({"not_path": ["system"]}, {}, False),
        ({"not_path": ["accounts"]}, {}, True),
        ({"path": ["system&accounts"]}, {}, False),
        ({"file": ["/etc/*"]}, {}, True),
        ({"not_file": ["/etc/*"]}, {}, False),
        ({"recursive": False}, {}, True),
        ({"recursive": True}, {"recursive": True}, True),
        ({"append": True}, {}, False),
        ({"from": ["network"]}, {"labels": frozenset(("network",))}, True),
        ({"from": ["network"]}, {}, False),
        ({"not_from": ["network"]}, {"labels": frozenset(("network",))}, False),
        ({"program": ["rm"]}, {}, True),
        ({"program": ["r*"]}, {}, True),
        ({"program": ["mv"]}, {}, False),
        ({"not_program": ["rm"]}, {}, False),
        ({"options": ["-v"]}, {}, True),
        ({"root": True}, {}, False),
    ],
)
def test_effects(match, given_, expected):
    doer = command("rm -v /etc/hosts")
    effect = Effect("delete", "/etc/hosts", doer, **given_)
    assert is_broken({"effect": ["delete"], **match}, doer, effects=[effect]) == expected


@pytest.mark.parametrize(
    ("match", "url", "expected"),
    [
        ({"url": ["*://Example.com/*"]}, "https://EXAMPLE.com/x", True),
        ({"url": ["*://example.com/*"]}, "https://example.org/x", False),
        ({"not_url": ["*localhost*"]}, "localhost:9200/_all", False),
        ({"address": ["metadata"]}, "http://2852039166/", True),
        ({"address": ["metadata", "private"]}, "10.0.0.1:80", True),
        ({"address": ["metadata"]}, "https://example.com/169.254.169.254", False),
        ({"address": ["public"]}, "http://localhost#@example.com/", True),
        ({"not_address": ["loopback"]}, "http://localhost:3000/", False),
        ({"not_address": ["loopback"]}, "http://localhost.example.com/", True),
        ({"not_address": ["loopback"]}, "http://localhost#@example.com/", True),
        ({"method": ["DELETE"]}, "https://example.com", True),
        ({"method": ["GET"]}, "https://example.com", False),
    ],
)
def test_effects_on_hosts(match, url, expected):
    doer = command("curl x")
    effect = Effect("send", url, doer, method="DELETE")
    assert is_broken({"effect": ["send"], **match}, doer, effects=[effect]) == expected


@pytest.mark.parametrize(
    ("match", "labels", "expected"),
    [
        ({"doubt": ["unknown-code"]}, (), True),
        ({"doubt": ["unreadable"]}, (), False),
        ({"doubt": ["unknown-code"], "from": ["network"]}, ("network",), True),
        ({"doubt": ["unknown-code"], "from": ["network"]}, (), False),
        ({"doubt": ["unknown-code"], "not_from": ["network"]}, ("network",), False),
    ],
)
def test_doubts(match, labels, expected):
    assert is_broken(match, doubts=[Doubt("unknown-code", "eval x", frozenset(labels))]) == expected


def test_paths_of_another_machine_are_looked_at_as_such():
    match = {"effect": ["delete"], "path": ["workspace"]}
    for host, expected in (("", True), ("container", False)):
        doer = command("rm x", host=host)
        assert is_broken(match, doer, effects=[Effect("delete", "/home/dev/app/x", doer)]) == expected


def test_verdict_tells_the_rule_the_fragment_and_what_does_it():
    doer = command("rm -rf /")
    (verdict,) = judge(Analysis([doer]), rules({"program": ["rm"]}, name="no-rm"), PLACE)
    assert (verdict.rule.id, verdict.rule.family, verdict.rule.severity) == ("no-rm", "test", "high")
    assert (verdict.rule.reason, verdict.rule.instead) == ("Because.", "Do not.")
    assert verdict.fragment == "rm -rf /"
    assert verdict.action is doer


def test_rule_that_two_of_its_matches_meet_is_told_once():
    index = rules({"program": ["rm"]}, {"program": ["rm"], "options": ["-f"]})
    assert len(judge(Analysis([command("rm -f x")]), index, PLACE)) == 1


def test_every_path_is_told_so_that_an_exception_for_one_does_not_hide_another():
    doer = command("rm /etc/a /etc/b")
    effects = [Effect("delete", "/etc/a", doer), Effect("delete", "/etc/b", doer), Effect("delete", "/etc/a", doer)]
    found = judge(Analysis([doer], effects), rules({"effect": ["delete"]}), PLACE)
    assert [getattr(verdict.action, "path", None) for verdict in found] == ["/etc/a", "/etc/b"]


def test_verdicts_come_in_the_order_of_the_command():
    index = rules({"program": ["one", "two"]})
    found = judge(Analysis([command("two a"), command("one a")]), index, PLACE)
    assert [verdict.fragment for verdict in found] == ["two a", "one a"]


def test_rules_of_others_are_found_beside_our_own():
    further = rules({"program": ["git"]}, {"program": ["g*"]}, {"program": ["*"], "root": True}, name="x")
    both = Index([*OWN_RULES, *further.rules])
    analysis = Analysis([command("git reset --hard")])
    assert {"x", "git-reset-hard"} <= {verdict.rule.id for verdict in judge(analysis, both, PLACE)}
    assert [verdict.rule.id for verdict in judge(Analysis([command("gzip a")]), both, PLACE)] == ["x"]


def test_joined_rules_find_what_each_of_them_finds_alone():
    first, second = (
        rules({"program": ["a"]}, {"effect": ["delete"]}, {"doubt": ["unreadable"]}, name=name) for name in "xy"
    )
    doer = command("a b")
    analysis = Analysis([doer], [Effect("delete", "/x", doer)], [Doubt("unreadable", "'")])
    both = Index([*first.rules, *second.rules])
    assert sorted(verdict.rule.id for verdict in judge(analysis, both, PLACE)) == ["x"] * 3 + ["y"] * 3


@pytest.mark.parametrize(
    ("severity", "relaxed", "standard", "strict"),
    [
        ("high", "deny", "deny", "deny"),
        ("medium", None, "ask", "ask"),
        ("low", None, None, "ask"),
        ("unknown", "ask", "ask", "ask"),
    ],
)
def test_what_a_severity_leads_to_at_each_level(severity, relaxed, standard, strict):
    assert severity_decision(severity, "relaxed") == relaxed
    assert severity_decision(severity, "standard") == standard
    assert severity_decision(severity, "strict") == strict


@given(
    st.lists(st.text("ab.", max_size=4), min_size=2, max_size=5),
    st.lists(st.text("abc.", max_size=3), min_size=4, max_size=4),
)
def test_text_made_from_a_glob_is_like_it(parts, between):
    text = parts[0] + "".join(filling + part for filling, part in zip(between, parts[1:], strict=False))
    assert like(text, tuple(parts))


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_glob_says_what_the_standard_library_says(glob, text):
    from fnmatch import fnmatchcase

    ready = tuple(glob.split("*")) if "*" in glob else glob
    assert like(text, ready) == fnmatchcase(text, glob)


@given(
    st.lists(
        st.sampled_from(
            ["git", "rm", "-rf", "--", "-", "", UNKNOWN, "/", "~", "*", "push", "\0", "é", "-\ue000", "a=b"]
        ),
        max_size=8,
    ),
)
def test_no_words_make_it_fail(words):
    doer = Command(words[0] if words else "", words or [""], cwd=UNKNOWN)
    effects = [Effect(kind, word, doer) for word in words for kind in ("delete", "write", "read", "send")]
    found = judge(Analysis([doer], effects, [Doubt("unreadable", "x")]), OWN, PLACE)
    assert all(verdict.rule.id for verdict in found)


# -- files that a command line makes itself ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo a > ~/out.txt; cat ~/out.txt; rm -f ~/out.txt", False),
        ("git diff > ../my.patch && git apply ../my.patch && rm ../my.patch", False),
        ("curl -so ~/a.tgz https://x.test/a.tgz && tar xzf ~/a.tgz && rm ~/a.tgz", False),
        ("python3 -c \"open('../x', 'w').write('a')\"; rm -f ../x", False),
        ("rm -f ~/out.txt", True),
        ("rm ~/out.txt; echo a > ~/out.txt", True),
        ("echo a > ~/out.txt; rm ~/other.txt", True),
        ("echo a >> ~/out.txt; rm ~/out.txt", True),
        ("mv ~/notes.md ~/out.txt; rm ~/out.txt", True),
        ("ssh web 'echo a > ~/out.txt'; rm ~/out.txt", True),
        ("mkdir ~/new && echo a > ~/new/b && rm -rf ~/new", True),
        ("echo a > ~/out.txt; cp ~/out.txt ~/b.txt; rm ~/out.txt ~/b.txt", False),
        ("echo a > ~/out.txt; echo b >> ~/out.txt; rm ~/out.txt", False),
        ("echo > '*'; rm -f *", True),
        ("echo a > ~/'*.txt'; rm -f ~/*.txt", True),
        ("echo > ~/x; mv ~/precious ~/x; rm ~/x", True),
        ("cp /dev/null ~/x; mv ~/precious ~/x; rm ~/x", True),
        ("echo a > ~/n; ssh h rm ~/n", True),
        ("echo a > ~/n$(date); rm ~/n$(cat list)", True),
        ("echo a > ~/.ssh/'id_*'; rm ~/.ssh/id_*", True),
    ],
)
def test_deleting_a_file_that_the_command_makes_loses_nothing(text, expected):
    ids = {verdict.rule.id for verdict in judge(analyse(text, PLACE), OWN, PLACE)}
    assert any(each.startswith("files-delete-") for each in ids) == expected


def test_a_file_that_was_there_before_is_not_the_command_s_own(tmp_path):
    there = tmp_path / "notes"
    there.write_text("a")
    effects = [Effect("write", str(there), command("tee")), Effect("delete", str(there), command("rm"))]
    assert is_broken({"effect": ["delete"]}, effects=effects)
    there.unlink()
    assert not is_broken({"effect": ["delete"]}, effects=effects)


@pytest.mark.parametrize(
    ("command", "is_lost"),
    [
        (": > ~/new; for i in 1 2; do echo $i >> ~/new; done", False),
        ("truncate -s0 ~/new", False),
        (": > ~/notes.md", True),
        (": > ~/n*", True),
        ("mv a ~/new; : > ~/new", True),
        ("ln -s ~/notes.md ~/new; : > ~/new", True),
    ],
)
def test_only_a_file_that_is_there_is_lost_when_it_is_emptied(tmp_path, command, is_lost):
    (tmp_path / "notes.md").touch()
    place = Place(f"{tmp_path}/app", str(tmp_path))
    broken = judge(analyse(command, place), rules({"effect": ["delete"], "not_program": ["mv"]}), place)
    assert bool(broken) == is_lost


@pytest.mark.parametrize("command", [": > ~/new", "truncate -s0 ~/new", "cp /dev/null ~/new", "echo > ~/new; rm ~/new"])
def test_a_file_that_appears_between_two_decisions_is_lost_by_the_second(tmp_path, command):
    place, deletion = Place(f"{tmp_path}/app", str(tmp_path)), rules({"effect": ["delete"]})
    assert judge(analyse(command, place), deletion, place) == []
    (tmp_path / "new").touch()
    assert len(judge(analyse(command, place), deletion, place)) == 1
