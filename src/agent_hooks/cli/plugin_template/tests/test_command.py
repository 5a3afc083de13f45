"""The command, without a terminal."""

from click.testing import CliRunner

from no_frobs.command import show_programs


def test_each_program_is_listed_on_a_line() -> None:
    assert CliRunner().invoke(show_programs).output.splitlines() == ["frob"]
