"""Damaged files against every command that reads them: the same answer, or one line that names the file."""

import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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


class Reader(NamedTuple):
    """Files of one kind, and the commands that read them.

    Attributes:
        files: glob below the material.
        commands: each is tried; `{run}` and `{folder}` are the file's folder.
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


OF_RUN = ("config.json", "metrics.parquet", "checkpoint.safetensors", "environment.json", "files.json")
LISTED: Arguments = ("runs",)
ALL_OF_RUN = (LISTED, SWEEP, CONJECTURE, FIGURES, EVALUATE)
DRAWN: Arguments = ("figures", "{folder}", "--into", "drawn", *SMOKE)
MANY: Arguments = ("sweep", "many.toml", *SMOKE)
CHECKED: Arguments = ("check-certificate", "certificate.json")
CACHE = "cache/lengthgen"
READERS = (
    *(
        Reader(f"run: {name}", f"out/runs/*-w8l1h1-*/{name}", ALL_OF_RUN, (REPORT, REPRODUCE), share=8)
        for name in OF_RUN
    ),
    Reader("run: learned", "out/runs/*-lbpe-*/*.*", (RELATION,)),
    Reader("run: of the main job", "out/runs/*-w16l2h2-*/*.*", (), (REPRODUCE, REPORT)),
    Reader("run: of a claim", "out/runs/copy-unaligned-*/*.*", (), (TRIAL,)),
    Reader("unfinished state", "out/runs/.unfinished/*/state*", (TRAIN, LISTED), (REPORT,), share=8),
    Reader("unfinished note", "out/runs/.unfinished/*/progress*", (TRAIN, LISTED, SWEEP), (REPORT,)),
    Reader("claims.json", "out/claims.json", (), (LEDGER, REPORT, REPRODUCE)),
    Reader("conjecture.json", "out/*/conjecture.json", (FIGURES, CONJECTURE), (REPORT,)),
    Reader("predictions.json", "out/*/predictions.json", (CONJECTURE, SWEEP), (REPORT, REPRODUCE)),
    Reader("frozen.json", "out/*/frozen.json", (CONJECTURE, FIGURES), (REPORT,)),
    Reader("circuits.json", "out/*/circuits.json", (CONJECTURE,), (REPORT,)),
    Reader("verdict", "verdict/swapped-arguments/*.*", (VERDICT,)),
    Reader("text", "out/text/*/*.json", (), (TEXT,)),
    Reader("modular addition", "out/modular-addition/*/*.json", (), (MODULAR,)),
    Reader("lrc.json, src.json", "out/*rc.json", (), (REPRODUCE,)),
    Reader("report/runs.json", "out/report/runs.json", (), (REPORT,)),
    Reader("figure stamps", "out/figures/.drawn/*-small.json", (FIGURES,)),
    Reader("figure files", "out/figures/*-small.*", (FIGURES,)),
    Reader("cache: claims", f"{CACHE}/claims/[af]*-1*.json", (("verify", *CLAIMS),), (REPORT,)),
    Reader("cache: matrix", f"{CACHE}/matrix/*", (), (("encodings",),), share=1),
    Reader("cache: explorations", f"{CACHE}/explorations/parity*", (), (REPORT,), share=2),
    Reader("cache: figures", f"{CACHE}/figures/table-*/*", (), (DRAWN,), share=2),
    Reader("cache: answers", f"{CACHE}/answers/*", (), (REPRODUCE,), ("out/lrc.json", "out/src.json"), share=1),
    Reader("cache: verdicts", f"{CACHE}/verdicts/*.json", (), (REPORT,), share=2),
    Reader("cache: costs", f"{CACHE}/costs/*.json", (CONJECTURE,), (), ("out/runs",), share=1),
    Reader("cache: probes", f"{CACHE}/probes/*.json", (), (MANY,), ("out/runs",), share=1),
    Reader("certificate", "certificate.json", (CHECKED,), share=8),
    Reader("protocol", "small.toml", (FIGURES,)),
    Reader("array", "pattern.npy", (("lrc", "pattern.npy", "--scales", "4,8"),), share=8),
)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A file damaged in one way, and the command that reads it."""

    reader: Reader
    file: Path
    kind: str
    arguments: Arguments
    seed: str


class Undisturbed(NamedTuple):
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
