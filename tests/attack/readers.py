"""Damaged files against every command that reads them: the same answer, or one line that names the file."""

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
from tests.attack.damage import GONE, KINDS, SEALED_AGAIN, NotApplicable, damage
from tests.attack.material import CLAIMS, MODULAR, SMOKE, TEXT, TRAIN, VERDICT, copied
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
        more_commands: used as well, where the material is complete.
        away: what is removed first, so that the file is read.
        share: how often it is chosen.
    """

    kind: str
    files: str
    commands: tuple[Arguments, ...] = ()
    more_commands: tuple[Arguments, ...] = ()
    away: tuple[str, ...] = ()
    share: int = 4


READERS = (
    *(
        Reader(
            kind=f"run: {name}",
            files=f"out/runs/*-w8l1h1-*/{name}",
            commands=(("runs",), SWEEP, CONJECTURE, FIGURES, EVALUATE),
            more_commands=(REPORT, REPRODUCE),
            share=8,
        )
        for name in ("config.json", "metrics.parquet", "checkpoint.safetensors", "environment.json", "files.json")
    ),
    Reader(kind="run: learned", files="out/runs/*-lbpe-*/*.*", commands=(RELATION,)),
    Reader(kind="run: of the main job", files="out/runs/*-w16l2h2-*/*.*", more_commands=(REPRODUCE, REPORT)),
    Reader(kind="run: of a claim", files="out/runs/copy-unaligned-*/*.*", more_commands=(TRIAL,)),
    Reader(
        kind="unfinished state",
        files="out/runs/.unfinished/*/state*",
        commands=(TRAIN, ("runs",)),
        more_commands=(REPORT,),
        share=8,
    ),
    Reader(
        kind="unfinished note",
        files="out/runs/.unfinished/*/progress*",
        commands=(TRAIN, ("runs",), SWEEP),
        more_commands=(REPORT,),
    ),
    Reader(kind="claims.json", files="out/claims.json", more_commands=(LEDGER, REPORT, REPRODUCE)),
    Reader(
        kind="conjecture.json", files="out/*/conjecture.json", commands=(FIGURES, CONJECTURE), more_commands=(REPORT,)
    ),
    Reader(
        kind="predictions.json",
        files="out/*/predictions.json",
        commands=(CONJECTURE, SWEEP),
        more_commands=(REPORT, REPRODUCE),
    ),
    Reader(kind="frozen.json", files="out/*/frozen.json", commands=(CONJECTURE, FIGURES), more_commands=(REPORT,)),
    Reader(kind="circuits.json", files="out/*/circuits.json", commands=(CONJECTURE,), more_commands=(REPORT,)),
    Reader(kind="verdict", files="verdict/swapped-arguments/*.*", commands=(VERDICT,)),
    Reader(kind="text", files="out/text/*/*.json", more_commands=(TEXT,)),
    Reader(kind="modular addition", files="out/modular-addition/*/*.json", more_commands=(MODULAR,)),
    Reader(kind="lrc.json, src.json", files="out/*rc.json", more_commands=(REPRODUCE,)),
    Reader(kind="report/runs.json", files="out/report/runs.json", more_commands=(REPORT,)),
    Reader(kind="figure stamps", files="out/figures/.drawn/*-small.json", commands=(FIGURES,)),
    Reader(kind="figure files", files="out/figures/*-small.*", commands=(FIGURES,)),
    Reader(
        kind="cache: claims",
        files="cache/lengthgen/claims/[af]*-1*.json",
        commands=(("verify", *CLAIMS),),
        more_commands=(REPORT,),
    ),
    Reader(kind="cache: matrix", files="cache/lengthgen/matrix/*", more_commands=(("encodings",),), share=1),
    Reader(kind="cache: explorations", files="cache/lengthgen/explorations/parity*", more_commands=(REPORT,), share=2),
    Reader(
        kind="cache: figures",
        files="cache/lengthgen/figures/table-*/*",
        more_commands=(("figures", "{folder}", "--into", "drawn", *SMOKE),),
        share=2,
    ),
    Reader(
        kind="cache: answers",
        files="cache/lengthgen/answers/*",
        more_commands=(REPRODUCE,),
        away=("out/lrc.json", "out/src.json"),
        share=1,
    ),
    Reader(kind="cache: verdicts", files="cache/lengthgen/verdicts/*.json", more_commands=(REPORT,), share=2),
    Reader(
        kind="cache: costs", files="cache/lengthgen/costs/*.json", commands=(CONJECTURE,), away=("out/runs",), share=1
    ),
    Reader(
        kind="cache: probes",
        files="cache/lengthgen/probes/*.json",
        more_commands=(("sweep", "many.toml", *SMOKE),),
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
    """A file damaged in one way, and the command that reads it."""

    reader: Reader
    file: Path
    kind: str
    arguments: Arguments
    seed: str


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A command's exit status where nothing is damaged, and what it shows."""

    status: int | None
    items: Items


def attacks(material: Path, count: int, seed: int, only: str = "") -> Iterator[Attack]:
    """Yield `count` attacks, drawn by the seed, on the readers whose kind begins with `only`."""
    complete = (material / "whole").exists()
    files = {reader.kind: sorted(set(material.glob(reader.files)) - {*material.rglob(".lock")}) for reader in READERS}
    pool = [reader for reader in READERS if reader.kind.startswith(only) and files[reader.kind]
            and (reader.commands or (complete and reader.more_commands))]  # fmt: skip
    for drawn, pick in tally.draws(count, seed):
        [reader] = pick.choices(pool, [reader.share for reader in pool])
        file = pick.choice(files[reader.kind])
        commands = reader.commands + (reader.more_commands if complete else ())
        arguments = tuple(part.format(run=file.parent.name, folder=file.parent.name) for part in pick.choice(commands))
        kind, named = pick.choice(list(KINDS)), file.relative_to(material)
        yield Attack(reader=reader, file=named, kind=kind, arguments=(*arguments, "--json"), seed=drawn)


def undisturbed(material: Path, planned: Sequence[Attack]) -> dict[Arguments, Undisturbed]:
    """Return what every command of the attacks shows where nothing is damaged."""
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


def run_attack(material: Path, attack: Attack, shown: Mapping[Arguments, Undisturbed]) -> Try | None:
    """Run the attack; None where this damage cannot be done to this file."""
    with tempfile.TemporaryDirectory() as place:
        folder = _laid_out(material, Path(place), attack)
        alike = [*sorted(material.glob(attack.reader.files)), *material.rglob(attack.file.name)]
        donors = [path for path in alike if path != material / attack.file]
        try:
            damage(folder / attack.file, attack.kind, attack.seed, donors)
        except NotApplicable:
            return None
        copy = folder / "damaged.own"
        if (folder / attack.file).is_file() and attack.kind != "a_device":
            shutil.copyfile(folder / attack.file, copy)
        ending = call(attack.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS, mib=LARGEST_MIB)
        end = _judged(attack, ending, shown[attack.arguments], folder, copy)
    again = f"seed '{attack.seed}': {attack.file} {attack.kind}; lengthgen {' '.join(attack.arguments)}"
    return tally.tried(attack.reader.kind, again, end, ending)


def _laid_out(material: Path, place: Path, attack: Attack) -> Path:
    folder = copied(material, place / "copy")
    for name in attack.reader.away:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return folder


def _judged(attack: Attack, ending: Ending, before: Undisturbed, folder: Path, copy: Path) -> tuple[str, str]:
    expected, outcome = before.items, tally.outcome(ending)
    if disaster := tally.disaster(ending, mib=LARGEST_MIB):
        return disaster, outcome
    try:
        now = items(ending, folder)
    except NoAnswer:
        now = {}
        if ending.status == 0:
            return tally.SILENT, outcome
    named = _is_named(attack.file, ending.err + ending.out)
    changed = {name: its for name, its in now.items() if its != expected.get(name)}
    other = {name: its for name, its in changed.items() if not is_broken(its)}
    broken = len(other) < len(changed)
    absent = [name for name in expected if name not in now]
    if ending.status == before.status and not changed and not absent:
        return tally.UNCHANGED, ""
    if ending.status == 0:
        if attack.kind == "a_gap":  # a value that may be absent was left out, and that was sealed
            return tally.OTHER_INPUT, ""
        if not other:
            if broken:
                return tally.ZERO, outcome
            if not absent or attack.kind in GONE or named:
                return tally.UNCHANGED, ""
            return tally.WRONG, f"absent: {absent[:5]}; {outcome}"
        if _is_other_input(attack, now, folder, copy):
            return tally.OTHER_INPUT, ""
        return tally.WRONG, f"{_difference(other, expected)}; {outcome}"
    if other and attack.kind not in SEALED_AGAIN:
        return tally.WRONG, f"{_difference(other, expected)}; {outcome}"
    errors = [line for line in ending.err.splitlines() if line.startswith("error: ")]
    if (not errors and not broken) or (len(errors) > 1 and not now):
        return tally.LINES, outcome
    return (tally.REFUSED, "") if named else (tally.NOT_NAMED, outcome)


def _is_named(file: Path, message: str) -> bool:
    """True if a file is named, or another of its run, as no hash tells which of two files was damaged."""
    beside = rf"{re.escape(file.parent.name)}/\w+\.\w+" if file.parts[:2] == ("out", "runs") else "(?!)"
    return file.name in message or re.search(beside, message) is not None


def _is_other_input(attack: Attack, now: Items, folder: Path, copy: Path) -> bool:
    """True if a file of the user's own says something else now, and the answer is right for that."""
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
