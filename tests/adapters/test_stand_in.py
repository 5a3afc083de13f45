"""What every adapter must hold, shown without a framework: in a stand-in for one, and in our own runtime."""

from adapters.conformance import Behaviours
from adapters.runtime_host import RuntimeHost
from adapters.same_run import SameRun
from adapters.stand_in_host import StandInHost


class TestStandIn(SameRun, Behaviours):
    host = StandInHost()


class TestRuntime(SameRun, Behaviours):
    host = RuntimeHost()
