"""Damaged files against every command that reads them: the same answer, or one line that names the file."""

import random
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.attack import tally
from tests.attack.answers import Items, NoAnswer, is_broken, items
from tests.attack.damage import GONE, KINDS, NotApplicable, damage
from tests.attack.material import CLAIMS, SMOKE, TRAIN, copied
from tests.attack.tally import Try
from tests.attack.watchdog import Ending, call

LARGEST_MIB = 2048
SECONDS = 120.0

Arguments = tuple[str, ...]
SWEEP: Arguments = ("sweep", "small.toml", *SMOKE)
CONJECTURE: Arguments = ("conjecture", "small.toml", *SMOKE)
FIGURES: Arguments = ("figures", "accuracy-small", "predicted-small", "--protocol", "small.toml", *SMOKE)
EVALUATE: Arguments = ("evaluate", "{run}", "--test", "1-3", "--samples", "20")
RELATION: Arguments = ("relation", "{run}", "--test", "1-3")
REPORT: Arguments = ("report", *SMOKE)
REPRODUCE: Arguments = ("reproduce", *SMOKE)
LEDGER: Arguments = ("figures", "ledger", *SMOKE)
TRIAL: Arguments = ("verify", "rpe-7", "--runs", "out", *SMOKE)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Files of one kind, and the commands that read them.

    Attributes:
        files: glob below the material.
        commands: each is tried; `{run}` is the file's folder, `{name}` its name without ending.
        whole: also read by these commands, where the material is whole.
        away: what is removed first, so that the file is read.
        share: how often it is chosen.
    """

    kind: str
    files: str
    commands: tuple[Arguments, ...] = ()
    whole: tuple[Arguments, ...] = ()
    away: tuple[str, ...] = ()
    share: int = 4


READERS = (
    *(
        Reader(
            kind=f"run: {name}",
            files=f"out/runs/*-w8l1h1-*/{name}",
            commands=(("runs",), SWEEP, CONJECTURE, FIGURES, EVALUATE),
            whole=(REPORT, REPRODUCE),
            share=8,
        )
        for name in ("config.json", "metrics.parquet", "checkpoint.safetensors", "environment.json", "files.json")
    ),
    Reader(kind="run: learned", files="out/runs/*-lbpe-*/*.*", commands=(RELATION,)),
    Reader(kind="run: of the main job", files="out/runs/*-w16l2h2-*/*.*", whole=(REPRODUCE, REPORT)),
    Reader(kind="run: of a claim", files="out/runs/copy-unaligned-*/*.*", whole=(TRIAL,)),
    Reader(
        kind="unfinished state",
        files="out/runs/.unfinished/*/state*",
        commands=(TRAIN, ("runs",)),
        whole=(REPORT,),
        share=8,
    ),
    Reader(
        kind="unfinished note",
        files="out/runs/.unfinished/*/progress*",
        commands=(TRAIN, ("runs",), SWEEP),
        whole=(REPORT,),
    ),
    Reader(kind="claims.json", files="out/claims.json", whole=(LEDGER, REPORT, REPRODUCE)),
    Reader(kind="conjecture.json", files="out/*/conjecture.json", commands=(FIGURES, CONJECTURE), whole=(REPORT,)),
    Reader(
        kind="predictions.json", files="out/*/predictions.json", commands=(CONJECTURE, SWEEP), whole=(REPORT, REPRODUCE)
    ),
    Reader(kind="lrc.json, src.json", files="out/*rc.json", whole=(REPRODUCE,)),
    Reader(kind="report/runs.json", files="out/report/runs.json", whole=(REPORT,)),
    Reader(kind="figure stamps", files="out/figures/.drawn/*-small.json", commands=(FIGURES,)),
    Reader(kind="figure files", files="out/figures/*-small.*", commands=(FIGURES,)),
    Reader(
        kind="cache: claims",
        files="cache/lengthgen/claims/[af]*-1*.json",
        commands=(("verify", *CLAIMS),),
        whole=(REPORT,),
    ),
    Reader(kind="cache: matrix", files="cache/lengthgen/matrix/*", whole=(("encodings",),), share=1),
    Reader(kind="cache: explorations", files="cache/lengthgen/explorations/parity*", whole=(REPORT,), share=2),
    Reader(
        kind="cache: figures",
        files="cache/lengthgen/figures/table-*/*",
        whole=(("figures", "{folder}", "--into", "drawn", *SMOKE),),
        share=2,
    ),
    Reader(
        kind="cache: answers",
        files="cache/lengthgen/answers/*",
        whole=(REPRODUCE,),
        away=("out/lrc.json", "out/src.json"),
        share=1,
    ),
    Reader(
        kind="cache: probes",
        files="cache/lengthgen/probes/*.json",
        whole=(("sweep", "many.toml", *SMOKE),),
        away=("out/runs",),
        share=1,
    ),
    Reader(
        kind="certificate", files="certificate.json", commands=(("check-certificate", "certificate.json"),), share=8
    ),
    Reader(kind="protocol", files="small.toml", commands=(FIGURES,)),
    Reader(kind="array", files="pattern.npy", commands=(("lrc", "pattern.npy", "--scales", "4,8"),), share=8),
)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One file damaged in one way, and the command that reads it."""

    reader: Reader
    file: Path
    kind: str
    arguments: Arguments
    seed: str


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """How a command ends where nothing is damaged, and what it shows."""

    status: int | None
    items: Items


def attacks(material: Path, count: int, seed: int, only: str = "") -> Iterator[Attack]:
    """As many attacks, drawn by the seed, on the readers whose kind begins with `only`."""
    whole = (material / "whole").exists()
    pool = [one for one in READERS if one.kind.startswith(only) and (one.commands or (whole and one.whole))]
    files = {one.kind: sorted(path for path in material.glob(one.files) if path.name != ".lock") for one in pool}
    pool = [one for one in pool if files[one.kind]]
    for number in range(count):
        pick = random.Random(f"{seed} {number}")
        [reader] = pick.choices(pool, [one.share for one in pool])
        file = pick.choice(files[reader.kind])
        commands = reader.commands + (reader.whole if whole else ())
        arguments = tuple(part.format(run=file.parent.name, folder=file.parent.name) for part in pick.choice(commands))
        yield Attack(
            reader=reader,
            file=file.relative_to(material),
            kind=pick.choice(list(KINDS)),
            arguments=(*arguments, "--json"),
            seed=f"{seed} {number}",
        )


def undisturbed(material: Path, planned: Sequence[Attack]) -> dict[Arguments, Undisturbed]:
    """What every command of the attacks shows where nothing is damaged."""
    shown: dict[Arguments, Undisturbed] = {}
    for attack in planned:
        if attack.arguments not in shown:
            with tempfile.TemporaryDirectory() as place:
                folder = _laid_out(material, Path(place), attack)
                ending = call(attack.arguments, folder=folder, cache=folder / "cache", seconds=600)
                try:
                    shown[attack.arguments] = Undisturbed(status=ending.status, items=items(ending, folder))
                except NoAnswer as error:
                    raise NoAnswer(f"{attack.arguments}: {ending.err}") from error
    return shown


def tried(material: Path, attack: Attack, shown: Mapping[Arguments, Undisturbed]) -> Try | None:
    """How the attack ended; None where this damage cannot be done to this file."""
    with tempfile.TemporaryDirectory() as place:
        folder = _laid_out(material, Path(place), attack)
        donors = [material / one for one in sorted(material.glob(attack.reader.files)) if one != material / attack.file]
        donors += [one for one in material.rglob(attack.file.name) if one != material / attack.file]
        try:
            damage(folder / attack.file, attack.kind, attack.seed, donors)
        except NotApplicable:
            return None
        copy = folder / "damaged.own"
        if (folder / attack.file).is_file() and attack.kind != "a_device":
            shutil.copyfile(folder / attack.file, copy)
        ending = call(attack.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS, mib=LARGEST_MIB)
        end, detail = _judged(attack, ending, shown[attack.arguments], folder, copy)
    return Try(
        kind=attack.reader.kind,
        again=f"seed '{attack.seed}': {attack.file} {attack.kind}; lengthgen {' '.join(attack.arguments)}",
        end=end,
        seconds=ending.seconds,
        peak_mib=ending.peak_mib,
        detail=detail,
    )


def _laid_out(material: Path, place: Path, attack: Attack) -> Path:
    folder = copied(material, place / "copy")
    for name in attack.reader.away:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return folder


def _judged(attack: Attack, ending: Ending, before: Undisturbed, folder: Path, copy: Path) -> tuple[str, str]:
    expected = before.items
    said = f"exit {ending.status}: {ending.err[-1500:]}"
    if ending.status is None:
        return tally.LATE, said
    if ending.peak_mib > LARGEST_MIB:
        return tally.LARGE, said
    if "Traceback" in ending.err + ending.out or ending.status < 0:
        return tally.LARGE if "\nMemoryError" in ending.err else tally.TRACEBACK, said
    if ending.orphans:
        return tally.ORPHANS, said
    try:
        now = items(ending, folder)
    except NoAnswer:
        now = {}
        if ending.status == 0:
            return tally.SILENT, said
    named = _is_named(attack.file, ending.err + ending.out)
    changed = {name: its for name, its in now.items() if its != expected.get(name)}
    other = {name: its for name, its in changed.items() if not is_broken(its)}
    broken = len(other) < len(changed)
    absent = [name for name in expected if name not in now]
    if ending.status == before.status and not changed and not absent:
        return tally.UNCHANGED, ""
    if ending.status == 0:
        if not other:
            if broken:
                return tally.ZERO, said
            if not absent or attack.kind in GONE or named:
                return tally.UNCHANGED, ""
            return tally.WRONG, f"absent: {absent[:5]}; {said}"
        if _is_other_input(attack, now, folder, copy):
            return tally.OTHER_INPUT, ""
        return tally.WRONG, f"{_difference(other, expected)}; {said}"
    if other:
        return tally.WRONG, f"{_difference(other, expected)}; {said}"
    errors = [line for line in ending.err.splitlines() if line.startswith("error: ")]
    if (not errors and not broken) or (len(errors) > 1 and not now):
        return tally.LINES, said
    return (tally.REFUSED, "") if named else (tally.NOT_NAMED, said)


def _is_named(file: Path, said: str) -> bool:
    """Whether a file is named, or, of a run, one that does not fit it: no hash tells which of two was damaged."""
    beside = rf"{re.escape(file.parent.name)}/\w+\.\w+" if file.parts[:2] == ("out", "runs") else "(?!)"
    return file.name in said or re.search(beside, said) is not None


def _is_other_input(attack: Attack, now: Items, folder: Path, copy: Path) -> bool:
    """Whether a file of the user's own says something else now, and the answer is right for that."""
    if attack.reader.kind == "protocol":
        return tomllib.loads(copy.read_text(encoding="utf-8")) != tomllib.loads((folder / "small.toml").read_text())
    if attack.reader.kind == "array":
        np.save(folder / "pattern.npy", np.load(copy, allow_pickle=False))
        again = call(attack.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS)
        return items(again, folder) == now
    if attack.reader.kind == "certificate":  # of Parity in steps: SRC is 1
        lower, upper = now["answer"]["lower"], now["answer"]["upper"]
        return lower <= 1 and (upper is None or upper == "inf" or upper >= 1)
    return False


def _difference(other: Items, expected: Items) -> str:
    name = next(iter(other))
    return f"{name}: {_first_difference(expected.get(name), other[name])}"


def _first_difference(was: Any, now: Any, where: str = "") -> str:
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        return next(_first_difference(was[key], now[key], f"{where}.{key}") for key in was if was[key] != now[key])
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return next(
            _first_difference(*pair, f"{where}[{place}]")
            for place, pair in enumerate(zip(was, now, strict=True))
            if pair[0] != pair[1]
        )
    return re.sub(r"\s+", " ", f"{where} was {was!r:.120}, now {now!r:.120}")
