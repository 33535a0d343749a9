"""Set-up of all tests: the oracles can be imported as `tests.oracles`, and random tests have no deadline."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent.parent))

# Tests run side by side, a process on each core: threads of one would only wait for those of the others.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests make tens of thousands of small files that wait for the disk: on some machines milliseconds to write each, and
# as long to remove it.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 1 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

COMPARED = ("rotary_embedding_torch", "transformers", "x_transformers")
"""Packages that are no dependencies, only compared with, so that tests of the lowest versions lack them."""

# A signal ignored here, as Ctrl-C in a background job or a hangup under nohup, would be ignored by all processes that
# tests start; they do not inherit a handler that does nothing.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# Derandomised, so that a run that fails does so again; no deadline, since machines are shared.
settings.register_profile("suite", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of one test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(common: Path) -> Iterator[None]:
    """Keep the verdicts of claims for the session; the user's own cache is neither believed nor changed."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(common / "cache")
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Skip a test that compares with a package which is not installed."""
    try:
        return (yield)
    except ModuleNotFoundError as missing:
        if missing.name in COMPARED:
            pytest.skip(f"{missing.name} is not installed")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Have no garbage collected while tests are: what is imported then stays, and is walked over again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Have the garbage collector walk no more over what was imported and collected: nothing of it is ever freed.

    And it walks less often over the rest, most of which is what sympy remembers.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
