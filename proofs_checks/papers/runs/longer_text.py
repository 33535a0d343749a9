"""Claims of papers on texts longer than those of training, decided by stored language models (`lengthgen text`).

Every claim is our formalisation [F]: a paper says that its models read longer text; model, text and margin are ours.
The models are tiny and their text is source code, so a claim is supported, contradicted or left open at this size, and
never more.  What is compared is the loss of the same last bytes after contexts of different lengths.  Each seed gives
one difference; a one-sided t-test over seeds decides at 0.05, which takes them for independent and normal ([F]).
Models that see nothing beyond the trained length have the same loss there to the last digit, which needs no test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lengthgen.empirical.studies.text.corpus import TextProfile, load_profile
from lengthgen.empirical.studies.text.text_run import TextRun
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.proofs_checks.claim import Source, Strength, Unsettled
from lengthgen.proofs_checks.majority import decide_mean, signed
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims
from lengthgen.proofs_checks.papers import alibi, bam, cable, fox, hope, interpolation, swat, wavelet, xpos, yarn
from lengthgen.proofs_checks.trained import NONE, Runs

MARGIN = 0.05
"""Difference in nats per byte that counts ([F]); chosen when losses of ALiBi, RoPE and FoX alone had been seen."""


@dataclass(frozen=True, kw_only=True)
class Tested:
    """Models of an encoding at one length.

    Attributes:
        encoding: encoding of training.
        under: encoding of the test, if it is another.
        longest: True for the longest tested length, False for the trained one.
    """

    encoding: str
    under: str = ""
    longest: bool = True

    def __str__(self) -> str:
        name = f"{self.encoding} under {self.under}" if self.under else self.encoding
        return f"{name} at the {'longest' if self.longest else 'trained'} length"


def loss_is_smaller(runs: Runs, first: Tested, second: Tested, bound: float) -> Facts:
    """Decide if the mean loss of the last bytes of the first models is below that of the second, plus `bound`.

    Raises:
        Refuted: it is above, significantly.
        Unsettled: models are not stored, seeds have equal losses, or neither is significant.
    """
    try:
        profile = load_profile(runs.profile)
        losses = [_last_losses(runs, profile, tested) for tested in (first, second)]
    except (LengthgenError, OSError) as error:
        raise Unsettled(str(error)) from error
    if any(len(set(of_seeds)) < len(of_seeds) for of_seeds in losses):
        raise Unsettled("two seeds have the same loss, so they are no independent models")
    differences = [first_loss - second_loss for first_loss, second_loss in zip(*losses, strict=True)]
    seen = f"{first}: {fmean(losses[0]):.3f}; {second}: {fmean(losses[1]):.3f} nats per byte; {signed(differences)}"
    yield Assumption(
        f"profile {runs.profile}: {profile.model}, {profile.steps} steps, trained at {profile.length} bytes, longest "
        f"{profile.lengths[-1]}"
    )
    yield Assumption(
        "nothing is said of larger models or of other text; each claim on text is tested at 0.05 by itself"
    )
    if bound:
        yield Assumption(f"the margin of {MARGIN:g} was chosen when losses of ALiBi, RoPE and FoX had been seen")
    if bound > 0 and not any(differences):
        yield seen
        yield "the same loss to the last digit in every seed"
    else:
        yield decide_mean(differences, "below", bound, seen=seen)


def _last_losses(runs: Runs, profile: TextProfile, tested: Tested) -> list[float]:
    """Return the loss of the last bytes for each seed. Raises `Unsettled` if it is not stored."""
    run = TextRun(encoding=tested.encoding, profile_name=runs.profile, profile=profile)
    result: dict[str, Any] | None = None if runs.out is None else run.result(runs.out)
    if result is None:
        raise Unsettled(
            f"language models of {tested.encoding}, profile {runs.profile}, are missing: lengthgen text --encoding "
            f"{tested.encoding} --profile {runs.profile} --out OUT"
        )
    tests = result["tests"].get(tested.under or tested.encoding)
    if tests is None:
        raise Unsettled(f"language models of {tested.encoding} were not tested under {tested.under}")
    losses: list[float] = tests[-1 if tested.longest else 0]["last"]
    return losses


CLAIMS = PaperClaims(alibi.SOURCE)


def _claim(
    id: str,
    source: Source,
    statement: str,
    latex: str,
    compared: tuple[Tested, Tested],
    bound: float,
    wrong: Mapping[str, tuple[Tested, Tested]],
) -> None:
    """Add the claim that the first of the compared models have the smaller loss; `wrong` compares others."""
    first, second = compared
    CLAIMS.claim(
        id,
        source,
        latex,
        statement=statement,
        holds={"runs": NONE, "first": first, "second": second, "bound": bound},
        strength=Strength.STATISTICAL,
        falsifiers={name: {"first": first, "second": second} for name, (first, second) in wrong.items()},
    )(loss_is_smaller)


def _far_and_trained(encoding: str) -> tuple[Tested, Tested]:
    """Models of an encoding at the longest and at the trained length."""
    return Tested(encoding=encoding), Tested(encoding=encoding, longest=False)


_ROPE, _ALIBI = _far_and_trained("rope"), _far_and_trained("alibi")
_claim(
    "text-rope",
    alibi.SOURCE.at("Section 2, on rotary encodings; model, text and margin are ours"),
    "Language models with RoPE do not read longer text than in training: after the longest context the last bytes cost "
    f"over {MARGIN:g} nats per byte more than after a context of the trained length.",
    rf"\ell_{{\text{{trained}}}}-\ell_{{\text{{longest}}}}<-{MARGIN:g}",
    _ROPE[::-1],
    -MARGIN,
    {"nor do those with ALiBi": _ALIBI[::-1]},
)
for _encoding, _title, _without, _source in (
    ("alibi", "ALiBi", "", alibi.SOURCE),
    ("fox", "FoX", "", fox.SOURCE),
    ("cable", "Cable", "", cable.SOURCE),
    ("bam", "BAM", "", bam.SOURCE),
    ("swat", "SWAT", "", swat.SOURCE),
    ("wavelet", "wavelets", "", wavelet.SOURCE),
    ("hope", "HoPE", "", hope.SOURCE),
    ("xpos", "xPos", ", without the paper's blockwise attention,", xpos.SOURCE),
):
    _claim(
        f"text-{_encoding}",
        _source.at("on length extrapolation; model, text and margin are ours"),
        f"Language models with {_title}{_without} read longer text than in training: after the longest context the "
        f"last bytes cost less than {MARGIN:g} nats per byte more than after a context of the trained length.",
        rf"\ell_{{\text{{longest}}}}-\ell_{{\text{{trained}}}}<{MARGIN:g}",
        _far_and_trained(_encoding),
        MARGIN,
        {"so do those with RoPE": _ROPE},
    )
for _id, _encoding, _title, _source in (
    ("pi", "interpolation", "Position interpolation", interpolation.SOURCE),
    ("ntk", "ntk", "NTK-aware scaling", yarn.NTK_SOURCE),
    ("dynamic-ntk", "dynamic-ntk", "Dynamic NTK scaling", yarn.DYNAMIC_SOURCE),
    ("yarn", "yarn", "YaRN", yarn.SOURCE),
):
    _mended = Tested(encoding="rope", under=_encoding)
    _claim(
        f"text-{_id}",
        _source.at("on use without fine-tuning; model and text are ours"),
        f"{_title}, applied to models trained with RoPE without training them for it, makes the last bytes after the "
        "longest context cost less than under RoPE itself.",
        rf"\ell^{{\text{{{_encoding}}}}}_{{\text{{longest}}}}<\ell^{{\text{{rope}}}}_{{\text{{longest}}}}",
        (_mended, _ROPE[0]),
        0.0,
        {"RoPE itself costs less": (_ROPE[0], _mended)},
    )
