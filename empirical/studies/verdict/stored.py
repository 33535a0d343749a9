"""Stored judgements of preregistrations, as figures and the report page read them."""

import shlex
from functools import partial
from pathlib import Path
from typing import Any

from lengthgen.empirical.studies.verdict.frozen import CELLS, load_frozen
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.preregistration import Preregistration, load_preregistration
from lengthgen.empirical.studies.verdict.runs import PIECES, RUNS, load_runs
from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.digests import file_digest, source_digest
from lengthgen.infrastructure.files import user_cache
from lengthgen.infrastructure.shapes import COUNT, FLAG, NUMBER, TEXT, both, list_of, mapping_to, or_none, record, row
from lengthgen.paper_figs.sources import Missing, Needs, Sources, StudyAnswers
from lengthgen.paper_figs.stored import SHARE

RANDOM_TASKS, RANDOM_LANGUAGES, SWAPPED_ARGUMENTS = "random-tasks", "random-languages", "swapped-arguments"
"""Preregistrations whose judgements are shown."""
_RULE_SCORE = record(
    **dict.fromkeys(("right_yes", "wrong_yes", "right_no", "wrong_no", "abstains"), COUNT), brier=or_none(NUMBER)
)
_PAIR = record(
    **dict.fromkeys(("part", "first", "second", "better"), TEXT),
    **dict.fromkeys(("tasks", "cells", "disputed", "reached", "wins_first", "wins_second"), COUNT),
    **dict.fromkeys(("against_first", "against_second"), NUMBER),
    kinds=mapping_to(record(cells=COUNT, wins_first=COUNT, wins_second=COUNT)),
    trajectory=list_of(row(COUNT, NUMBER, NUMBER)),
    brier=record(**dict.fromkeys(("against_first", "against_second"), NUMBER)),
)
_FAIR = record(
    **dict.fromkeys(("kind", "first", "second", "better"), TEXT),
    registered=FLAG,
    **dict.fromkeys(("tasks", "cells", "wins_first", "wins_second"), COUNT),
    **dict.fromkeys(("against_first", "against_second"), NUMBER),
)
_DECIDED = mapping_to(record(**dict.fromkeys(("yes", "no", "undecided", "by_e_bh"), COUNT)))
_GROUP = record(encoding=TEXT, cells=COUNT, generalize=COUNT, yes=mapping_to(COUNT))
_BREAKS = record(
    cells=COUNT,
    exact=SHARE,
    within_one=COUNT,
    later_than_first=record(cells=COUNT, exact=SHARE),
    counts=list_of(row(NUMBER, NUMBER, COUNT)),
)
JUDGEMENT = record(
    **dict.fromkeys(("title", "preregistration", "frozen"), TEXT),
    **dict.fromkeys(("questions", "encodings"), list_of(TEXT)),
    **dict.fromkeys(
        ("cells", "planned", "tasks", "seen", "seen_tasks", "runs", "gaps", "fitting_runs", "counting"), COUNT
    ),
    sample=record(tasks=COUNT, cells=COUNT, counting=COUNT),
    never_fit=record(cells=COUNT, predicted_yes=list_of(TEXT), by_encoding=mapping_to(COUNT)),
    rules=mapping_to(record(**dict.fromkeys(("all", "amendment", "judgement"), _RULE_SCORE))),
    baselines=record(half=TEXT, runs=COUNT),
    fair=list_of(_FAIR),
    kinds=mapping_to(record(rules=mapping_to(_RULE_SCORE), decided=_DECIDED, breaking=mapping_to(_BREAKS))),
    pairs=list_of(_PAIR),
    decided=_DECIDED,
    breaking=mapping_to(_BREAKS),
    points=list_of(both(_GROUP, record(format=TEXT))),
    strata=list_of(both(_GROUP, record(stratum=TEXT))),
    formats=mapping_to(mapping_to(record(runs=COUNT, exact_match=list_of(NUMBER)))),
    multiverse=list_of(record(threshold=NUMBER, fitting=COUNT, cells=COUNT, right=mapping_to(or_none(NUMBER)))),
    null_rate=or_none(record(rate=NUMBER, stated=NUMBER, simulations=COUNT)),
)
"""Shape of a judgement (`lengthgen.empirical.studies.verdict.judgement.judge`)."""


def judged(sources: Sources, name: str) -> tuple[Preregistration, dict[str, Any]]:
    """Return a preregistration and the judgement of its runs in OUT/verdict/NAME (`judgement.judge`).

    The permutations of a judgement take a while, so that it is kept for the user, by the hashes of what it reads.
    """
    preregistration, folder = load_preregistration(name), _folder(sources, name)

    def judgement() -> dict[str, Any]:
        frozen = load_frozen(preregistration, folder)
        return judge(frozen, load_runs(frozen, folder))

    entry = UserCached(
        path=user_cache("verdicts") / f"{name}.json",
        code=source_digest("theory", "circuits", "empirical"),
        inputs=[preregistration.digest, _digests(sources, name)],
    )
    answer: dict[str, Any] = sources.cached("verdict", name, partial(entry.computed, judgement, JUDGEMENT))
    return preregistration, answer


def judgement_of(name: str) -> Needs:
    """Return the needs of a figure that shows the judgement of a preregistration."""
    return Needs(
        study=StudyAnswers(
            words=f"runs of {name}",
            require=partial(_require, name=name),
            digest=partial(_digests, name=name),
            folder=partial(_folder, name=name),
        )
    )


def _require(sources: Sources, name: str) -> None:
    folder = _folder(sources, name)
    frozen = (folder / CELLS).is_file()
    if not (frozen and _runs(folder)):
        command = shlex.join(["lengthgen", "verdict", name, "--out", str(folder.parent)])
        freeze = "" if frozen else f"{command} --freeze && "
        raise Missing(f"{folder} has no frozen answers with runs", f"{freeze}{command} --train 1h")


def _digests(sources: Sources, name: str) -> list[str]:
    """Return hashes of the frozen answers and of the runs of a preregistration."""
    folder = _folder(sources, name)
    return [file_digest(path) for path in (folder / CELLS, *_runs(folder))]


def _runs(folder: Path) -> list[Path]:
    """Return the files with runs of a preregistration, in the order in which `load_runs` reads them."""
    joined = folder / RUNS
    return [*([joined] if joined.is_file() else []), *sorted((folder / PIECES).glob("*.parquet"))]


def _folder(sources: Sources, name: str) -> Path:
    return sources.found(Path("verdict", name))
