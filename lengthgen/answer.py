"""Answer of a public function: plain data, the same as the command prints with --json, in one line when shown."""

from collections.abc import Mapping
from typing import Any

from lengthgen.infrastructure.errors import one_line


class Answer(dict[str, Any]):
    """Plain data of an answer, and what it says in one line.

    `print(answer)` shows the line; `answer["key"]`, `dict(answer)` and `json.dumps(answer)` give the data.

    Attributes:
        says: the answer in one line.
    """

    def __init__(self, content: Mapping[str, Any], says: str) -> None:
        """Make an answer of plain data and of the line that says it."""
        super().__init__(content)
        self.says = one_line(says, longest=300)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.says})"
