"""A test that hangs is told where, and ends them all."""

import faulthandler
import signal

import pytest

#: Far beyond what any test takes; a bound for what hangs and nothing else.
HANGS_SECONDS = 120


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    faulthandler.dump_traceback_later(HANGS_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()

# A shell that starts something in the background has it ignore Ctrl-C, and its children with it: these tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
