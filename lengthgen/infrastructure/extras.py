"""Extras of the project (optional dependencies in pyproject.toml), and how to install one."""


def how_to_install(extra: str) -> str:
    """Return the commands that install an extra of the project, which is on no index, in one line.

    PyTorch comes first, from its CPU index, as PyPI's for Linux brings gigabytes of CUDA. With a GPU, leave that out.
    """
    torch = "pip install torch --index-url https://download.pytorch.org/whl/cpu (the CPU build), then "
    return f"{torch if extra == 'train' else ''}pip install '.[{extra}]' in the clone of lengthgen"
