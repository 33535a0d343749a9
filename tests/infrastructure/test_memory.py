"""Freed memory: it is kept for the next array if that is asked for, and returned to the system if not, or later."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from lengthgen.infrastructure.memory import keep_freed_memory, return_freed_memory
if sys.argv[1] != "returned":
    keep_freed_memory()
faults = []
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(32 << 20, dtype=np.uint8)
    np.ones(64 << 20, dtype=np.uint8)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    if sys.argv[1] == "returned later":
        return_freed_memory()
print(faults[0], faults[2])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems keep their own rules")
def test_kept_memory_needs_no_new_pages():
    first, last = {}, {}
    for kind in ("kept", "returned", "returned later"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, kind], capture_output=True, text=True, check=True)
        first[kind], last[kind] = map(int, done.stdout.split())
    assert last["kept"] < 20 < first["kept"]
    assert last["returned"] > 20  # falsifier: without the call the pages are new each time
    assert last["returned later"] > 20
