"""What every plugin must hold, in this one."""

from agent_hooks.testing import check_plugin


def test_the_installed_plugin_has_no_mistakes():
    check_plugin("guards")
