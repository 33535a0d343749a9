"""The memory that a run took is told apart from the memory that the process took before."""

import mmap
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from empirical.training.memory import forget_peak, peak

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


FREED_AND_ASKED_FOR_AGAIN = """
import resource, torch
from empirical.training.memory import forget_peak, keep_freed

def faults_of_a_step():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    tensors = [torch.ones(5_000_000) for _ in range(10)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

torch.set_num_threads(1)
keep_freed()
print(sum(faults_of_a_step() for _ in range(10)))
forget_peak("cpu")
print(faults_of_a_step())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is another")
def test_freed_memory_is_kept_for_the_next_step_and_given_back_with_the_peak():
    """The system clears each page that it is asked for, by a fault; without `keep_freed` they are more."""
    command = [sys.executable, "-c", FREED_AND_ASKED_FOR_AGAIN]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    faults_of_ten_steps, faults_after_all_is_given_back = map(int, answer.stdout.split())
    assert faults_of_ten_steps < 2 * faults_after_all_is_given_back
