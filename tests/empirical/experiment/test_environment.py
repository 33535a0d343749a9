"""The memory that a run took is told apart from the memory that the process took before."""

import mmap
import sys

import numpy as np
import pytest

from lengthgen.empirical.experiment.environment import forget_peak, peak

MIB = 1 << 20


def use(mib):
    """Take pages of the system's: `np.ones` alone may reuse what other tests of this process have freed."""
    block = np.frombuffer(mmap.mmap(-1, mib * MIB), dtype=np.uint8)
    block[:] = 1
    return block


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is that of the whole process")
def test_a_peak_is_reported_and_forgotten():
    forget_peak("cpu")
    before = peak("cpu")
    block = use(150)
    del block
    assert peak("cpu") >= before + 140
    forget_peak("cpu")
    assert peak("cpu") <= before + 50
    block = use(80)
    assert block.nbytes and peak("cpu") >= before + 60
