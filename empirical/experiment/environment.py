"""Environment of a computation: versions, machine, device, source revision, time, and peak memory."""

import platform
import resource
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_text
from lengthgen.infrastructure.memory import return_freed_memory

PROCESS = Path("/proc/self")


def environment(device: str) -> dict[str, Any]:
    """Return the environment that is written beside results."""
    import torch

    packages = ("torch", "numpy", "scipy", "sympy", "networkx")
    return {
        "python": platform.python_version(),
        "machine": _machine(),
        "versions": {name: version(name) for name in packages},
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "revision": revision(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _machine() -> str:
    """Architecture, processor and vector instructions that torch uses: the last bits of sums depend on them."""
    import torch

    try:
        lines = read_text(Path("/proc/cpuinfo")).splitlines()
    except (OSError, LengthgenError):
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    parts = (platform.machine(), name or platform.processor(), torch.backends.cpu.get_cpu_capability())
    return ", ".join(dict.fromkeys(filter(None, parts)))


@cache
def experiment_code() -> str:
    """Hash of the code that draws tasks, answers and trains, of the files at the first call."""
    return source_digest("theory", "circuits", "empirical")


@cache
def revision() -> str:
    """Git revision of the source when this process first asked, with `+` if it was changed; else "unknown".

    Ask when the work begins: the source may change meanwhile, but not the code that this process has loaded.
    """
    here = Path(__file__).parent
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+"],
            cwd=here, capture_output=True, encoding="utf-8", check=True, timeout=10,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return "unknown"
    return described.stdout.strip()


def forget_peak(device: str) -> None:
    """Reset the peak: earlier use no longer counts, on a GPU and on Linux (`proc(5)`, clear_refs)."""
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
        return
    return_freed_memory()
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5", encoding="utf-8")


def peak(device: str) -> int:
    """Peak memory in MiB since `forget_peak` or the start: of the GPU if device is cuda, else of this process."""
    if device == "cuda":
        import torch

        return torch.cuda.max_memory_allocated() >> 20
    try:
        status = (PROCESS / "status").read_text(encoding="utf-8", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) >> 10
    except (OSError, ValueError, IndexError):
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used >> (20 if sys.platform == "darwin" else 10)
