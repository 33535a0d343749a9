"""Theorem 2 of arXiv 2510.04130 at work: three patterns, from scale 4 to 8, under five relations."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Strength
from proofs_checks.papers.pola.cases import DESCENT
from proofs_checks.papers.pola.source import source
from theory import pola
from theory.lrc import level_sets, lrc_profile
from theory.relation import absolute, clipped_relative, constant, relative

Pattern = NDArray[np.float64]


def worked_cases(
    *,
    patterns: Callable[[int], Mapping[str, Pattern]],
    clip: int,
    succeed: Mapping[str, frozenset[str]],
    complexities: Mapping[str, tuple[int, int]],
) -> Evidence:
    """Decide which relations learn the worked patterns from scale 4 up to 8, and their complexities at both."""
    training_scale, scale = 4, 8
    misses = []
    for name, pattern in patterns(scale).items():
        profile = lrc_profile(pattern, (training_scale, scale))
        if tuple(profile.values()) != complexities[name]:
            raise Refuted(f"{name}: complexity {profile}, not {complexities[name]}")
        relations = {"constant": constant(), "absolute": absolute(), "relative": relative()}
        relations |= {"clipped": clipped_relative(clip), "level sets": level_sets(pattern)}
        for relation, law in relations.items():
            learned = pola.learned_matrix(pattern, law.labels(scale), training_scale=training_scale)
            error = pola.error_by_scale(learned, pattern).largest
            # Entries are multiples of 1/128 and a class has at most 10 cells in training: a miss is at least 1/1280.
            first = int(np.argmax(error > 1 / 2000)) + 1 if error[-1] > 1 / 2000 else None
            if (first is None) != (relation in succeed[name]):
                found = "generalizes" if first is None else f"fails from scale {first}"
                raise Refuted(f"{name} under the {relation} relation {found}: largest error {error[-1]:.6g}")
            if first is not None:
                misses.append(f"{name} under {relation} fails from scale {first}, by {error[-1]:.3g}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"From scale {training_scale} to {scale}",
        facts=("LRC at scales 4 and 8: " + ", ".join(f"{name} {pair}" for name, pair in complexities.items()), *misses),
        assumptions=(DESCENT, "start 0", f"clipped at distance {clip}; 0.5^(j-i) fails under every relation by (2b)"),
    )


def _worked_patterns(scale: int) -> dict[str, Pattern]:
    keys, queries = np.indices((scale, scale))
    window = np.where(queries == keys, 2.0, np.where(queries == keys + 1, -1.0, 0.0))
    return {
        "prefix sum": np.triu(np.ones((scale, scale))),
        "window filter": window,
        "0.5^(j-i)": np.triu(0.5 ** np.abs(queries - keys)),
    }


def _with(name: str, change: Callable[[Pattern], Pattern]) -> Parameters:
    """One of the patterns changed."""

    def changed(scale: int) -> dict[str, Pattern]:
        patterns = _worked_patterns(scale)
        return patterns | {name: change(patterns[name])}

    return {"patterns": changed}


SUCCEED = {
    "prefix sum": frozenset({"constant", "clipped", "level sets"}),
    "window filter": frozenset({"relative", "clipped", "level sets"}),
    "0.5^(j-i)": frozenset[str](),
}
COMPLEXITIES = {"prefix sum": (1, 1), "window filter": (2, 2), "0.5^(j-i)": (4, 8)}


CLAIMS = (
    Claim(
        id="pola-2-worked",
        source=source("Theorem 2", "worked cases"),
        statement="From scale 4 to 8: a prefix sum is learned under the constant and the clipped relation, a window "
        "filter of two weights under the relative and the clipped one, and 0.5^(j-i) under none.",
        latex=r"N_0=4,\ N=8:\quad \mathrm{LRC}\ 1\to1,\ 2\to2,\ 4\to8",
        label="F",
        check=worked_cases,
        holds={"patterns": _worked_patterns, "clip": 2, "succeed": SUCCEED, "complexities": COMPLEXITIES},
        answers=("succeed", "complexities"),
        falsifiers={
            "sums over the last four tokens": _with("prefix sum", lambda sums: sums - np.triu(sums, 4)),
            "a window over the first tokens": _with(
                "window filter", lambda window: np.triu(window[:1].repeat(8, axis=0))
            ),
            "a clip at distance 1": {"clip": 1},
            "0.5^(j-i) up to distance 3": _with("0.5^(j-i)", lambda powers: powers - np.triu(powers, 4)),
            "0.5^(j-i) rounded to halves": _with("0.5^(j-i)", lambda powers: np.round(2 * powers) / 2),
        },
    ),
)
