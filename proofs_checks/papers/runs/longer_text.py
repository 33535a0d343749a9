"""Claims of papers on texts longer than those of training, decided by stored language models (`lengthgen text`).

The models are tiny and their text is source code, so a claim is supported, contradicted or left open at this size, and
never more.  What is compared is the loss of the same last bytes after contexts of different lengths.  Each seed gives
one difference; a one-sided t-test over seeds decides at 0.05, which takes them for independent and normal ([F]).
Models that see nothing beyond the trained length have the same loss there to the last digit, which needs no test.
"""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lengthgen.empirical.studies.text.corpus import TextProfile, load_profile
from lengthgen.empirical.studies.text.text_run import TextRun
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.proofs_checks.claim import Claim, Evidence, Source, Strength, Unsettled
from lengthgen.proofs_checks.majority import decide_mean, signed
from lengthgen.proofs_checks.papers import alibi, bam, cable, fox, hope, interpolation, ntk, swat, wavelet, xpos, yarn
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


def loss_is_smaller(*, runs: Runs, first: Tested, second: Tested, bound: float) -> Evidence:
    """Decide if the mean loss of the last bytes of the first models is below that of the second, plus `bound`.

    Raises:
        Refuted: it is above, significantly.
        Unsettled: models are not stored, seeds have equal losses, or neither is significant.
    """
    profile = _profile(runs)
    losses = [_last_losses(runs, profile, tested) for tested in (first, second)]
    if any(len(set(of_seeds)) < len(of_seeds) for of_seeds in losses):
        raise Unsettled("two seeds have the same loss, so they are no independent models")
    differences = [first_loss - second_loss for first_loss, second_loss in zip(*losses, strict=True)]
    seen = f"{first}: {fmean(losses[0]):.3f}; {second}: {fmean(losses[1]):.3f} nats per byte; {signed(differences)}"
    assumptions = (
        f"profile {runs.profile}: {profile.model}, {profile.steps} steps, trained at {profile.length} bytes, longest "
        f"{profile.lengths[-1]}",
        "nothing is said of larger models or of other text",
    )
    if bound > 0 and not any(differences):
        facts = (seen, "the same loss to the last digit in every seed")
        return Evidence(strength=Strength.STATISTICAL, facts=facts, assumptions=assumptions)
    return decide_mean(differences, "below", bound, seen=seen, assumptions=assumptions)


def _profile(runs: Runs) -> TextProfile:
    """Return the profile of the runs. Raises `Unsettled` if there is none."""
    try:
        return load_profile(runs.profile)
    except ProfileError as error:
        raise Unsettled(str(error)) from error


def _last_losses(runs: Runs, profile: TextProfile, tested: Tested) -> list[float]:
    """Return the loss of the last bytes for each seed. Raises `Unsettled` if it is not stored."""
    run = TextRun(encoding=tested.encoding, profile_name=runs.profile, profile=profile)
    try:
        result: dict[str, Any] | None = None if runs.out is None else run.result(runs.out)
    except (LengthgenError, OSError) as error:
        raise Unsettled(str(error)) from error
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


def _stays(id: str, encoding: str, title: str, source: Source) -> Claim:
    """Claim that contexts beyond the trained length do no harm under an encoding."""
    return Claim(
        id=id,
        source=source.at("on length extrapolation; model, text and margin are ours"),
        statement=f"Language models with {title} read longer text than in training: after the longest context the last "
        f"bytes cost less than {MARGIN:g} nats per byte more than after a context of the trained length.",
        latex=rf"\ell_{{\text{{longest}}}}-\ell_{{\text{{trained}}}}<{MARGIN:g}",
        label="P",
        check=loss_is_smaller,
        holds={
            "runs": NONE,
            "first": Tested(encoding=encoding),
            "second": Tested(encoding=encoding, longest=False),
            "bound": MARGIN,
        },
        falsifiers={
            "so do those with RoPE": {
                "first": Tested(encoding="rope"),
                "second": Tested(encoding="rope", longest=False),
            }
        },
    )


def _mends(id: str, under: str, title: str, source: Source) -> Claim:
    """Claim that an interpolation of a trained RoPE helps beyond the trained length without training."""
    plain, mended = Tested(encoding="rope"), Tested(encoding="rope", under=under)
    return Claim(
        id=id,
        source=source.at("on use without fine-tuning; model and text are ours"),
        statement=f"{title}, applied to models trained with RoPE without training them for it, makes the last bytes "
        "after the longest context cost less than under RoPE itself.",
        latex=rf"\ell^{{\text{{{under}}}}}_{{\text{{longest}}}}<\ell^{{\text{{rope}}}}_{{\text{{longest}}}}",
        label="P",
        check=loss_is_smaller,
        holds={"runs": NONE, "first": mended, "second": plain, "bound": 0.0},
        falsifiers={"RoPE itself costs less": {"first": plain, "second": mended}},
    )


CLAIMS = (
    Claim(
        id="text-rope",
        source=alibi.SOURCE.at("Section 2, on rotary encodings; model, text and margin are ours"),
        statement="Language models with RoPE do not read longer text than in training: after the longest context the "
        f"last bytes cost over {MARGIN:g} nats per byte more than after a context of the trained length.",
        latex=rf"\ell_{{\text{{trained}}}}-\ell_{{\text{{longest}}}}<-{MARGIN:g}",
        label="P",
        check=loss_is_smaller,
        holds={
            "runs": NONE,
            "first": Tested(encoding="rope", longest=False),
            "second": Tested(encoding="rope"),
            "bound": -MARGIN,
        },
        falsifiers={
            "nor do those with ALiBi": {
                "first": Tested(encoding="alibi", longest=False),
                "second": Tested(encoding="alibi"),
            }
        },
    ),
    _stays("text-alibi", "alibi", "ALiBi", alibi.SOURCE),
    _stays("text-fox", "fox", "FoX", fox.SOURCE),
    _stays("text-cable", "cable", "Cable", cable.SOURCE),
    _stays("text-bam", "bam", "BAM", bam.SOURCE),
    _stays("text-swat", "swat", "SWAT", swat.SOURCE),
    _stays("text-wavelet", "wavelet", "wavelets", wavelet.SOURCE),
    _stays("text-hope", "hope", "HoPE", hope.SOURCE),
    _stays("text-xpos", "xpos", "xPos", xpos.SOURCE),
    _mends("text-pi", "interpolation", "Position interpolation", interpolation.SOURCE),
    _mends("text-ntk", "ntk", "NTK-aware scaling", ntk.SOURCE),
    _mends("text-dynamic-ntk", "dynamic-ntk", "Dynamic NTK scaling", ntk.DYNAMIC_SOURCE),
    _mends("text-yarn", "yarn", "YaRN", yarn.SOURCE),
)
