"""Run the notebooks of docs/notebooks and store what they give: `python tools/notebooks.py`.

The code runs in this process, without a kernel: a notebook is a list of cells, whose outputs are what they print, the
value of an expression at their end, and the figures that they make.
"""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RESOLUTION = 100
"""Resolution of stored figures, in dots per inch."""


def executed(path: Path) -> dict[str, Any]:
    """Return the notebook with the outputs that its cells give now; the file stays as it is."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell["execution_count"] = number
            cell["outputs"] = _outputs("".join(cell["source"]), path.name, namespace, number)
    return notebook


def _outputs(source: str, name: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell and return its outputs in the notebook format, version 4."""
    from matplotlib import pyplot as plt

    code = ast.parse(source, name)
    last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        data: dict[str, Any] = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    for figure in map(plt.figure, plt.get_fignums()):
        data = {"image/png": _picture(figure), "text/plain": ["<Figure>"]}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return outputs


def _picture(figure: Any) -> str:
    """Return a figure as PNG in base 64, without the version of matplotlib."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=RESOLUTION, bbox_inches="tight", metadata={"Software": None})
    return base64.b64encode(file.getvalue()).decode()


def _lines(text: str) -> list[str]:
    """Return a text as the notebook format holds it: its lines with their ends."""
    return text.splitlines(keepends=True)


def main() -> None:
    """Store the outputs of every notebook in its file."""
    matplotlib.use("Agg")
    for path in NOTEBOOKS:
        notebook = executed(path)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
