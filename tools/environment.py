"""Make the environment of the project in .venv: `python3 tools/environment.py [EXTRA ...] [--GROUP ...] [--lowest]`.

Versions come from constraints.txt; with --lowest, which makes .lowest, what the project itself needs has its lowest
allowed version.  A stamp file records what was installed from which pins, so that a second call returns at once; a lock
prevents two calls at the same time from installing twice.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import tomllib
import venv
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ("constraints.txt", "pyproject.toml")
RARELY_IMPORTED = (
    "tests?",
    "devtools",
    "ray/(data|llm|rllib|serve|train|tune)",
    "torch/(ao|onnx|testing)",
    "transformers/models",
)
"""Folders of libraries, as regular expressions."""


def main(arguments: list[str]) -> None:
    """Install the project with the named extras, and with the dependency groups that are named as options."""
    if sys.version_info < (3, 11):
        sys.exit(f"lengthgen needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")
    selection = " ".join(sorted(arguments))
    pins = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in PINS)).hexdigest()
    folder = ROOT / (".lowest" if "--lowest" in arguments else ".venv")
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / f".installed-{selection.replace(' ', '-')}"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == pins:
            return
        print(f"installing the environment ({selection}) into {folder} ...", file=sys.stderr, flush=True)
        if not (folder / "bin" / "pip").exists():
            venv.create(folder, with_pip=True)
        constraints = lowest_constraints(folder) if "--lowest" in arguments else ROOT / "constraints.txt"
        extras = ",".join(name for name in arguments if not name.startswith("--"))
        groups = [name.removeprefix("--") for name in arguments if name.startswith("--") and name != "--lowest"]
        project = f"{ROOT}[{extras}]" if extras else str(ROOT)
        install(folder, constraints, "--upgrade", "pip")
        install(
            folder, constraints, "--editable", project, *(f"--group={ROOT}/pyproject.toml:{name}" for name in groups)
        )
        compile_modules(folder)
        partial = stamp.with_suffix(".partial")
        partial.write_text(pins, encoding="utf-8")
        os.replace(partial, stamp)


def lowest_versions() -> dict[str, str]:
    """Lowest version that pyproject.toml allows of each library that the project itself needs, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = chain(project["dependencies"], *project["optional-dependencies"].values())
    return {name: version for name, _, version in (bound.partition(">=") for bound in bounds)}


def lowest_constraints(folder: Path) -> Path:
    """Write lowest.txt, and constraints.txt with its versions in place of the tested ones; return the latter."""
    lowest = lowest_versions()
    pins = [f"{name}=={version}\n" for name, version in lowest.items()]
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    others = [pin for pin in tested if pin.partition("==")[0].lower() not in lowest]
    (folder / "lowest.txt").write_text("".join(pins), encoding="utf-8")
    (folder / "constraints.txt").write_text("".join([*others, *pins]), encoding="utf-8")
    return folder / "constraints.txt"


def install(folder: Path, constraints: Path, *packages: str) -> None:
    """Install packages with pip under the pinned versions; exit if pip fails, after its own message."""
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--constraint", str(constraints)]
    if subprocess.run([*pip, "--no-compile", *packages], cwd=ROOT, check=False).returncode:
        sys.exit(f"could not install {' '.join(packages)}: see pip's message above, then run again")


def compile_modules(folder: Path) -> None:
    """Compile byte code on all cores, except modules that are rarely imported; pip would compile all on one core."""
    pattern = f"/({'|'.join(RARELY_IMPORTED)})/"
    subprocess.run(
        [str(folder / "bin" / "python"), "-m", "compileall", "-qq", "-j", "0", "-x", pattern, "lib"],
        cwd=folder,  # so that the pattern is not compared with the folders above
        check=False,  # libraries contain templates that are not valid Python
    )


if __name__ == "__main__":
    main(sys.argv[1:])
