"""Ratios to named alternatives, one for each question, beside those recorded before; it fails where one has fallen."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench import complexity, data, decoder, distinct, encodings, engines, evaluation, listing, profiles, wirings
from bench.measure import TimingComparison
from lengthgen.empirical.experiment.environment import environment
from lengthgen.infrastructure.files import write_json
from lengthgen.infrastructure.shapes import NUMBER, TEXT, mapping_to, read_stored, record

QUESTIONS: tuple[Callable[[], TimingComparison | str], ...] = (
    data.examples_per_second,
    data.slowest_against_plain,
    data.addition_against_plain,
    profiles.compiled_against_sympy,
    profiles.one_pass_against_one_per_scale,
    profiles.all_scales_against_the_last,
    profiles.long_distance_against_numpy,
    distinct.window_pattern,
    distinct.few_wide_values,
    distinct.all_different,
    engines.flint_against_sympy,
    wirings.search_against_enumeration,
    wirings.guesses_against_sets,
    evaluation.blocks_against_all_inputs,
    listing.kept_rows_against_all_files,
    complexity.search_against_all_wirings,
    complexity.forecast_against_all_circuits,
    complexity.cadical_against_cp_sat,
    complexity.certificate_against_search,
    decoder.training_step_against_x_transformers,
    partial(decoder.training_step_against_x_transformers, compiled=True),
    partial(decoder.training_step_against_x_transformers, compiled=True, both=True),
    decoder.training_step_against_gpt2,
    decoder.training_step_against_bare_loop,
    decoder.ensemble_step_against_bare_loop,
    decoder.models_in_turn_against_bare_loop,
    decoder.evaluation_against_x_transformers,
    decoder.compiled_step_against_plain,
    decoder.ensemble_against_loop,
    *encodings.ALL,
)

RECORD = Path(__file__).with_name("recorded.json")
"""Ratios of an earlier run, with the machine, the versions and the revision on which they were measured."""
TOLERANCE = 0.7
"""A ratio has fallen if its upper quartile is below this share of the recorded lower one.

In two runs of one revision on a machine with other work, the smallest such share was 0.79."""
_RATIO = record(**dict.fromkeys(("ratio", "low", "high"), NUMBER))
_SHAPE = record(
    **dict.fromkeys(("machine", "revision", "time", "python", "device"), TEXT),
    versions=mapping_to(TEXT),
    ratios=mapping_to(_RATIO),
)


def main(arguments: Sequence[str]) -> int:
    """Print a line for each question as it is answered; return 1 if some ratio has fallen, else 0.

    A line has the ratio to the named alternative, the quartiles of its rounds, the recorded ratio, and the question.
    With `--record` all ratios are stored, as those that later ones are held to.
    """
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--record", action="store_true", help="store all ratios, as those that later ones are held to")
    parser.add_argument("words", nargs="*", help="ask only the questions whose module or name has one of these words")
    options = parser.parse_args(arguments)
    questions = [each for each in QUESTIONS if not options.words or any(word in _name(each) for word in options.words)]
    if not questions:
        parser.error("no question has these words")
    if options.record and options.words:
        parser.error("--record stores all ratios: leave out the words")
    here, before = environment(decoder.device()), dict[str, dict[str, float]]()
    print(f"{here['machine']}, {here['device']}, torch {here['versions']['torch']}, revision {here['revision']}")
    if not options.record:
        earlier = read_stored(RECORD, _SHAPE, "ratios", "make it anew with  python -m bench --record", sealed=False)
        before = earlier["ratios"]
        print(f"recorded: {earlier['machine']}, {earlier['device']}, revision {earlier['revision']}")
    print(f"{'ratio':>8} {'low':>8} {'high':>8} {'recorded':>8}  question")
    ratios: dict[str, dict[str, float]] = {}
    fallen: list[str] = []
    for question in questions:
        answer = question()
        if isinstance(answer, str):
            print(answer, flush=True)
            continue
        name, (low, high) = f"{answer.question}, against {answer.alternative}", answer.spread
        ratios[name] = {"ratio": answer.ratio, "low": low, "high": high}
        stored = before.get(name)
        if stored and high < TOLERANCE * stored["low"]:
            fallen.append(name)
        shown = f"{stored['ratio']:8.2f}" if stored else f"{'-':>8}"
        print(f"{answer.ratio:8.2f} {low:8.2f} {high:8.2f} {shown}  {answer}", flush=True)
    if options.record:
        write_json(RECORD, {**here, "ratios": ratios})
    print(f"{len(ratios)} ratios, {len(fallen)} fallen")
    print("".join(f"fallen: {name}\n" for name in fallen), end="", file=sys.stderr)
    return 1 if fallen else 0


def _name(question: Callable[[], TimingComparison | str]) -> str:
    """Return the module and the name of a question."""
    function = question.func if isinstance(question, partial) else question
    return f"{function.__module__.removeprefix('bench.')} {function.__name__}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
