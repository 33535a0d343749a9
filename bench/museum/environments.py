"""Environments of the museum: a virtual environment for each old version, on top of the project's own packages."""

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def make(folder: Path, packages: Sequence[str]) -> Path:
    """Make an environment with pinned packages from PyPI and return its Python.

    The packages come without their dependencies: torch and all else are those of the running environment, which the
    new one sees behind its own. An environment that was made before is used again.

    Args:
        folder: place of the environment.
        packages: requirements with exact versions.

    Raises:
        SystemExit: pip cannot install them.
    """
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == "\n".join(packages):
        return python
    venv.create(folder, with_pip=False, clear=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = folder / "lib" / version / "site-packages"
    # After the environment's own packages, so that old versions hide new ones.
    (own / "behind.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(own)]
    if subprocess.run([*pip, *packages], check=False).returncode:
        raise SystemExit(f"could not install {' '.join(packages)}: see pip's message above")
    stamp.write_text("\n".join(packages), encoding="utf-8")
    return python
