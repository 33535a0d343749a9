"""Where, when and with what something was computed."""

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from theory.system.errors import LengthgenError
from theory.system.files import read_text


def environment(device: str) -> dict[str, Any]:
    """What is written beside results: versions, machine, device, source revision, time."""
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
    """Architecture, processor, and the vector instructions that torch uses there: last bits of sums depend on them."""
    import torch

    try:
        lines = read_text(Path("/proc/cpuinfo")).splitlines()
    except (OSError, LengthgenError):
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    known = (platform.machine(), name or platform.processor(), torch.backends.cpu.get_cpu_capability())
    return ", ".join(dict.fromkeys(filter(None, known)))


def revision() -> str:
    """The git revision of the source, `+` where it was changed since; "unknown" outside a checkout."""
    here = Path(__file__).parent
    try:
        known = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+"],
            cwd=here, capture_output=True, encoding="utf-8", check=True, timeout=10,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return "unknown"
    return known.stdout.strip()
