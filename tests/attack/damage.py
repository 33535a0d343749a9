"""Damage to one file, at random places, and what makes the same damage again: the seed of its generator."""

import functools
import json
import os
import random
import shutil
from collections.abc import Callable, Sequence
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


def flipped(path: Path, pick: random.Random) -> None:
    content = bytearray(_content(path))
    content[pick.randrange(len(content))] ^= 1 << pick.randrange(8)
    path.write_bytes(content)


def truncated(path: Path, pick: random.Random) -> None:
    content = _content(path)
    path.write_bytes(content[: pick.randrange(len(content))])


def emptied(path: Path, pick: random.Random) -> None:
    path.write_bytes(b"")


def inserted(path: Path, pick: random.Random) -> None:
    content, at = _content(path), 0
    at = pick.randrange(len(content) + 1)
    path.write_bytes(content[:at] + pick.randbytes(pick.choice((1, 8, 4096))) + content[at:])


def cut_out(path: Path, pick: random.Random) -> None:
    content = _content(path)
    first = pick.randrange(len(content))
    path.write_bytes(content[:first] + content[first + 1 + pick.randrange(64) :])


def number_edited(path: Path, pick: random.Random) -> None:
    def other(value: Any) -> Any:
        return pick.choice((value + 1, -value, value * 2, value / 2 + 0.25, 10**6))

    _edit(path, pick, lambda value: isinstance(value, int | float) and not isinstance(value, bool), other)


def text_edited(path: Path, pick: random.Random) -> None:
    def other(value: str) -> str:
        return pick.choice((value + "x", value[1:], value.swapcase(), "", "parity", "\x1b]0;x\x07"))

    _edit(path, pick, lambda value: isinstance(value, str), other)


def type_changed(path: Path, pick: random.Random) -> None:
    _edit(path, pick, lambda value: True, lambda value: pick.choice(HOSTILE))


def key_dropped(path: Path, pick: random.Random, *, sealed_again: bool = False) -> None:
    def without(value: dict[str, Any]) -> dict[str, Any]:
        gone = pick.choice(list(value))
        return {key: its for key, its in value.items() if key != gone}

    _edit(path, pick, lambda value: isinstance(value, dict) and value != {}, without, sealed_again=sealed_again)


def another_shape(path: Path, pick: random.Random) -> None:
    """Put a value of another type in a random place, and seal the file again as the project does."""

    def other(value: Any) -> Any:
        return pick.choice(of_other_types(value))

    _edit(path, pick, lambda value: value is not None, other, sealed_again=True)


def a_gap(path: Path, pick: random.Random) -> None:
    """Put null in a random place, or leave its key out, and seal the file again as the project does."""
    if pick.random() < 0.5:
        _edit(path, pick, lambda value: value is not None, lambda value: None, sealed_again=True)
    else:
        key_dropped(path, pick, sealed_again=True)


def nested_deep(path: Path, pick: random.Random) -> None:
    depth = pick.choice((50, 900, 100_000))
    text = _content(path).decode("utf-8", "replace")
    at = text.find(":") + 1 if _is_json(path) else 0
    path.write_text(text[:at] + "[" * depth + "]" * depth + text[at:], encoding="utf-8")


def other_of_its_kind(path: Path, pick: random.Random, donors: Sequence[Path] = ()) -> None:
    others = [donor for donor in donors if donor.is_file() and donor.read_bytes() != _content(path)]
    if not others:
        raise NotApplicable
    path.write_bytes(pick.choice(others).read_bytes())


def noise(path: Path, pick: random.Random) -> None:
    path.write_bytes(pick.randbytes(pick.choice((1, 100, 10_000))))


def constant(path: Path, pick: random.Random) -> None:
    path.write_bytes(pick.choice((b"null", b"[]", b"{}", b'""', b"0", b"NaN", b"\xff\xfe", b"\n", b"true")))


def zeros(path: Path, pick: random.Random) -> None:
    path.write_bytes(bytes(pick.choice((1, 4096, max(1, len(_content(path)))))))


def removed(path: Path, pick: random.Random) -> None:
    path.unlink()


def a_folder(path: Path, pick: random.Random) -> None:
    path.unlink()
    path.mkdir()


def a_device(path: Path, pick: random.Random) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def a_pipe(path: Path, pick: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def a_loop(path: Path, pick: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


KINDS: dict[str, Callable[..., None]] = {
    kind.__name__: kind
    for kind in (
        flipped, truncated, emptied, inserted, cut_out, number_edited, text_edited, type_changed, key_dropped,
        another_shape, a_gap, nested_deep, other_of_its_kind, noise, constant, zeros, removed, a_folder, a_device,
        a_pipe, a_loop,
    )
}  # fmt: skip
GONE = ("removed", "a_folder", "a_loop")
"""Kinds of damage after which the file's content may be absent from an answer."""
SEALED_AGAIN = ("another_shape", "a_gap")
"""Kinds of damage that no seal shows."""
STRANGE = ("a_folder", "a_device", "a_pipe", "a_loop")
"""Kinds of damage after which no regular file is there."""


def damage(path: Path, kind: str, seed: str, donors: Sequence[Path]) -> None:
    """Damage a file, which may be a link to one that must stay as it is.

    Raises:
        NotApplicable: this kind cannot be done to this file, or left it as it was.
    """
    pick = random.Random(seed)
    before = _content(path)
    own = path.with_name(f"{path.name}.own")
    shutil.copyfile(path, own)
    own.replace(path)
    if kind == "other_of_its_kind":
        other_of_its_kind(path, pick, donors)
    else:
        KINDS[kind](path, pick)
    if kind not in (*STRANGE, "removed") and path.read_bytes() == before:
        raise NotApplicable


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content:
        raise NotApplicable
    return content


def _is_json(path: Path) -> bool:
    return path.suffix == ".json"


def _edit(
    path: Path,
    pick: random.Random,
    fits: Callable[[Any], bool],
    other: Callable[[Any], Any],
    *,
    sealed_again: bool = False,
) -> None:
    """Replace one random value of a JSON file; `sealed_again` with a new seal, and with its hash in a run's files."""
    if not _is_json(path):
        raise NotApplicable
    content = json.loads(_content(path))
    fitting = [(holder, key, depth) for holder, key, depth in places(content) if key != SEAL and fits(holder[key])]
    if not fitting:
        raise NotApplicable
    # Deep places are many: each depth is as likely as any other.
    depth = pick.choice(sorted({depth for _, _, depth in fitting}))
    holder, key, _ = pick.choice([place for place in fitting if place[-1] == depth])
    holder[key] = other(holder[key])
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
    return [each for each in (*HOSTILE[1:], DEEP) if _type_of(each) is not _type_of(value)]


def _type_of(value: Any) -> type:
    return float if type(value) is int else type(value)
