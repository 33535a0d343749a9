"""Damage to one file, at random places, and what makes the same damage again: the seed of its generator."""

import functools
import json
import os
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.store import FILES
from lengthgen.infrastructure.digests import file_digest
from lengthgen.infrastructure.files import SEAL, seal

HOSTILE = (
    None, True, False, 0, -1, 1, 3, 1e308, -0.5, 10**30, float("nan"), float("inf"), "", "x", "\x1b[31m\n", "９", [],
    [[]], {}, {"": None}, ["x", None], [1, [2, [3]]],
)  # fmt: skip
"""Values that replace another."""
DEEP: Any = functools.reduce(lambda inner, _: [inner], range(300), [])
"""List in a list in a list, and so on."""


class NotApplicable(Exception):
    """This kind of damage cannot be done to this file."""


def _cut_out(content: bytes, pick: random.Random) -> bytes:
    first = pick.randrange(len(content))
    return content[:first] + content[first + 1 + pick.randrange(64) :]


def _inserted(content: bytes, pick: random.Random) -> bytes:
    at = pick.randrange(len(content) + 1)
    return content[:at] + pick.randbytes(pick.choice((1, 8, 4096))) + content[at:]


def _flipped(content: bytes, pick: random.Random) -> bytes:
    at = pick.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << pick.randrange(8)]) + content[at + 1 :]


def _nested_deep(content: bytes, pick: random.Random) -> bytes:
    depth, at = pick.choice((50, 900, 100_000)), content.find(b":") + 1 if content[:1] in b"{[" else 0
    return content[:at] + b"[" * depth + b"]" * depth + content[at:]


def _without_a_key(value: dict[str, Any], pick: random.Random) -> dict[str, Any]:
    gone = pick.choice(list(value))
    return {key: its for key, its in value.items() if key != gone}


def _other_number(value: float, pick: random.Random) -> float:
    return pick.choice((value + 1, -value, value * 2, value / 2 + 0.25, 10**6))


def _other_text(value: str, pick: random.Random) -> str:
    return pick.choice((value + "x", value[1:], value.swapcase(), "", "parity", "\x1b]0;x\x07"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _has_keys(value: Any) -> bool:
    return isinstance(value, dict) and value != {}


CONTENTS: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "flipped": _flipped,
    "truncated": lambda content, pick: content[: pick.randrange(len(content))],
    "emptied": lambda content, pick: b"",
    "inserted": _inserted,
    "cut_out": _cut_out,
    "nested_deep": _nested_deep,
    "noise": lambda content, pick: pick.randbytes(pick.choice((1, 100, 10_000))),
    "constant": lambda content, pick: pick.choice(
        (b"null", b"[]", b"{}", b'""', b"0", b"NaN", b"\xff\xfe", b"\n", b"true")
    ),
    "zeros": lambda content, pick: bytes(pick.choice((1, 4096, len(content)))),
}
"""Damage of a content that may be anything."""
EDITS: Mapping[str, Sequence[tuple[Callable[[Any], bool], Callable[[Any, random.Random], Any]]]] = {
    "number_edited": [(_is_number, _other_number)],
    "text_edited": [(lambda value: isinstance(value, str), _other_text)],
    "type_changed": [(lambda value: True, lambda value, pick: pick.choice(HOSTILE))],
    "key_dropped": [(_has_keys, _without_a_key)],
    "another_shape": [(lambda value: value is not None, lambda value, pick: pick.choice(of_other_types(value)))],
    "a_gap": [(lambda value: value is not None, lambda value, pick: None), (_has_keys, _without_a_key)],
}
"""Edits of one value of a JSON file: which values fit, and what one becomes."""
STRANGE: Mapping[str, Callable[[Path], object]] = {
    "a_folder": Path.mkdir,
    "a_device": lambda path: path.symlink_to("/dev/zero"),
    "a_pipe": os.mkfifo,
    "a_loop": lambda path: path.symlink_to(path.name),
}
"""What is put in place of a regular file."""
KINDS = (*CONTENTS, *EDITS, *STRANGE, "other_of_its_kind", "removed")
GONE = ("removed", "a_folder", "a_loop")
"""Kinds of damage after which the file's content may be absent from an answer."""
SEALED_AGAIN = ("another_shape", "a_gap")
"""Kinds of damage that no seal shows: the file is sealed again as the project does."""


def damage(path: Path, kind: str, seed: str, donors: Sequence[Path]) -> None:
    """Damage a file, which may be a link to one that must stay as it is.

    Raises:
        NotApplicable: this kind cannot be done to this file, or left it as it was.
    """
    pick, before = random.Random(seed), path.read_bytes()
    own = path.with_name(f"{path.name}.own")
    shutil.copyfile(path, own)
    own.replace(path)
    if kind in (*STRANGE, "removed"):
        path.unlink()
        STRANGE.get(kind, str)(path)
        return
    if not before:
        raise NotApplicable
    if kind in EDITS:
        fits, other = pick.choice(EDITS[kind])
        _edit(path, pick, fits, lambda value: other(value, pick), sealed_again=kind in SEALED_AGAIN)
    elif kind in CONTENTS:
        path.write_bytes(CONTENTS[kind](before, pick))
    else:
        others = [content for donor in donors if donor.is_file() and (content := donor.read_bytes()) != before]
        path.write_bytes(pick.choice(others or [before]))
    if path.read_bytes() == before:
        raise NotApplicable


def _edit(
    path: Path,
    pick: random.Random,
    fits: Callable[[Any], bool],
    other: Callable[[Any], Any],
    *,
    sealed_again: bool = False,
) -> None:
    """Replace one random value of a JSON file; `sealed_again` with a new seal, and with its hash in a run's files."""
    if path.suffix != ".json":
        raise NotApplicable
    before = path.read_bytes()
    content = json.loads(before)
    fitting = [(holder, key, depth) for holder, key, depth in places(content) if key != SEAL and fits(holder[key])]
    if not fitting:
        raise NotApplicable
    # Deep places are many: each depth is as likely as any other.
    depth = pick.choice(sorted({depth for _, _, depth in fitting}))
    holder, key, _ = pick.choice([place for place in fitting if place[-1] == depth])
    holder[key] = other(holder[key])
    if json.dumps(content) == json.dumps(json.loads(before)):  # as the negative of 0
        raise NotApplicable
    if sealed_again and content.pop(SEAL, None) is not None:
        content[SEAL] = seal(content)
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    files = path.with_name(FILES)
    if sealed_again and files != path and files.is_file():
        hashes = json.loads(files.read_text(encoding="utf-8"))
        files.unlink()  # it may be a link
        files.write_text(json.dumps(hashes | {path.name: file_digest(path)}), encoding="utf-8")


def places(content: Any, depth: int = 0) -> list[tuple[Any, Any, int]]:
    """List every (dict or list, key, depth) below JSON content."""
    keys = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    here = [(content, key, depth) for key in keys]
    return here + [place for holder, key, _ in here for place in places(holder[key], depth + 1)]


def of_other_types(value: Any) -> list[Any]:
    """JSON values of other types than this one, none of them null; all numbers are of one type."""
    kinds = (int, float) if type(value) in (int, float) else (type(value),)
    return [each for each in (*HOSTILE[1:], DEEP) if type(each) not in kinds]
