"""What a person lets through in spite of a rule: narrow, dated, and nothing beside it."""

from __future__ import annotations

import subprocess
from datetime import date, timedelta

import pytest

from agent_hooks import RegistrationError
from agent_hooks_guards import RuleException, ShellGuard
from agent_hooks_guards.places.paths import Place

HOME = "/home/dev"
APP = "/home/dev/app"


def stopped(text, *exceptions, cwd=APP):
    """The rules that the command breaks in spite of the exceptions."""
    found = ShellGuard(exceptions=exceptions).decide(text, Place(cwd, HOME, cwd))
    return [verdict.rule.id for _, verdict in found]


def rule_of(text):
    """The rule that the command breaks."""
    return stopped(text)[0]


def test_a_command_is_let_through():
    text = "git reset --hard"
    rule = rule_of(text)
    assert stopped(text, RuleException(rule, command="git reset --hard")) == []


def test_a_family_is_let_through_for_a_command():
    assert stopped("git reset --hard", RuleException("git", command="git reset *")) == []


@pytest.mark.parametrize(
    "text",
    ["git reset --hard HEAD~3", "git reset --hard && rm -rf ~", "git -C ../other reset --hard", "sudo rm -rf /etc"],
)
def test_nothing_beside_the_command_is_let_through(text):
    assert stopped(text, RuleException(rule_of("git reset --hard"), command="git reset --hard")) != []


def test_a_command_is_let_through_however_it_is_wrapped():
    exception = RuleException(rule_of("git reset --hard"), command="git reset --hard")
    assert stopped("bash -c 'nice git reset --hard'", exception) == []


def test_blanks_and_quotes_make_no_other_command():
    exception = RuleException(rule_of("git reset --hard"), command="git reset --hard")
    assert stopped("g''it   reset '--hard'", exception) == []


def test_an_exception_holds_until_its_day():
    rule, today = rule_of("git reset --hard"), date.today()  # noqa: DTZ011 - the day of who wrote it
    for until, expected in ((today, []), (today + timedelta(1), []), (today - timedelta(1), [rule]), (None, [])):
        assert stopped("git reset --hard", RuleException(rule, command="git*", until=until)) == expected


def test_a_path_is_let_through_and_no_other():
    rule = rule_of("rm -rf /srv/scratch/a")
    exception = RuleException(rule, path="/srv/scratch/**")
    assert stopped("rm -rf /srv/scratch/a", exception) == []
    assert stopped("rm -rf /srv/scratch/a /srv/data/b", exception) == [rule]
    assert stopped("rm -rf /srv/scratch/../data/b", exception) == [rule]
    assert stopped("rm -rf /srv/scratch/a*", exception) != []
    assert stopped("rm -rf /srv/scratch/$DIR", exception) != []
    assert stopped("ssh host rm -rf /srv/scratch/a", exception) == stopped("ssh host rm -rf /srv/scratch/a")


def test_a_path_in_the_home_folder():
    rule = rule_of("rm -rf ~/old")
    assert stopped("rm -rf ~/old", RuleException(rule, path="~/old")) == []


def test_a_path_is_the_folder_of_a_command():
    exception = RuleException(rule_of("git reset --hard"), path="~/scratch/**")
    assert stopped("git reset --hard", exception, cwd="/home/dev/scratch/x") == []
    assert stopped("cd ~/scratch/x && git reset --hard", exception) == []
    assert stopped("git reset --hard", exception) != []


@pytest.fixture
def repository(tmp_path):
    def git(*words):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "feature/x")
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_a_branch_is_the_one_checked_out_if_none_is_named(repository):
    exception = RuleException(rule_of("git push --force"), branch="feature/*")
    for folder in (repository, repository / "sub"):
        assert stopped("git push --force", exception, cwd=str(folder)) == []
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert stopped("git push --force", exception, cwd=str(repository)) != []


def test_a_branch_is_the_one_that_is_named(repository):
    exception = RuleException("git", branch="feature/*")
    here = str(repository)
    assert stopped("git push --force origin feature/y", exception, cwd=here) == []
    assert stopped("git push --force origin HEAD:feature/y", exception, cwd=here) == []
    assert stopped("git push --force origin main", exception, cwd=here) != []
    assert stopped("git push --force origin feature/y main", exception, cwd=here) != []
    assert stopped("git push --force origin feature/y:main", exception, cwd=here) != []
    assert stopped("git push --force --all", exception, cwd=here) != []
    assert stopped("git push --mirror origin", exception, cwd=here) != []


def test_a_branch_of_a_worktree(repository, tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (repository / ".git" / "worktrees" / "t").mkdir(parents=True)
    (repository / ".git" / "worktrees" / "t" / "HEAD").write_text("ref: refs/heads/feature/z\n")
    (tree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/t\n")
    exception = RuleException("git", branch="feature/z")
    assert stopped("git push --force", exception, cwd=str(tree)) == []


def test_a_branch_says_nothing_where_none_is_known(tmp_path):
    exception = RuleException("git", branch="*")
    assert stopped("git push --force", exception, cwd=str(tmp_path)) != []
    assert stopped("ssh host git push --force", exception, cwd=str(tmp_path)) != []


def test_all_that_is_given_must_hold():
    rule = rule_of("git reset --hard")
    assert stopped("git reset --hard", RuleException(rule, command="git reset --hard", path="/srv/**")) == [rule]


def test_an_exception_is_for_something():
    with pytest.raises(RegistrationError, match="must be for a command, a path or a branch"):
        RuleException("git-reset-hard")


def test_a_rule_that_does_not_exist_is_named_with_what_was_meant():
    with pytest.raises(RegistrationError, match=r"no rule and no family 'git-reset-hrad' .did you mean git-reset-hard"):
        ShellGuard(exceptions=[RuleException("git-reset-hrad", command="x")])
