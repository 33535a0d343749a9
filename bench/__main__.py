"""Command `python -m bench`: run every benchmark and print one line for each."""

from collections.abc import Callable
from functools import partial

from bench import complexity, data, decoder, distinct, encodings, engines, evaluation, profiles, wirings
from bench.measure import TimingComparison

QUESTIONS: tuple[Callable[[], TimingComparison | str], ...] = (
    data.examples_per_second,
    data.slowest_against_plain,
    data.median_against_plain,
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

if __name__ == "__main__":
    for question in QUESTIONS:
        print(question(), flush=True)
