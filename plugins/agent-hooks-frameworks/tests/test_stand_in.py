"""What every adapter must hold, shown without a framework: in a stand-in for one, and in our own runtime."""

from conformance import Behaviours
from runtime_host import RuntimeHost
from same_run import SameRun
from stand_in_host import StandInHost


class TestStandIn(SameRun, Behaviours):
    host = StandInHost()


class TestRuntime(SameRun, Behaviours):
    host = RuntimeHost()
