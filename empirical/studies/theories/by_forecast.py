"""The forecast as a theory: the share that `lengthgen predict` states, which counts our runs and no published one."""

from functools import cache

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.forecast.ask import with_forecast
from lengthgen.circuits.forecast.other_circuits import SeveralCircuits
from lengthgen.circuits.forecast.record import recorded_cells
from lengthgen.circuits.forecast.table import fitted_table
from lengthgen.circuits.tasks.families import PUBLISHED
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory, abstain
from lengthgen.empirical.studies.theories.src_rules import EXACT, Unanswered, analysis_of, prediction_of, scales_of


@cache
def _on_record() -> dict[tuple[str, str, int, int], Guess]:
    """Return (task, encoding, train, test) -> answer, for the published cells whose features are on record."""
    table = fitted_table()
    return {
        (cell.task, cell.encoding, cell.train, cell.test): Guess(
            probability=round(table.share(cell.features), 3), reason=cell.features.shown.value
        )
        for cell in recorded_cells()
        if cell.task.startswith(PUBLISHED)
    }


def by_forecast(question: Question) -> Guess:
    """Answer of the forecast: for published cells the one on record, by their copies; for others up to scale EXACT."""
    key = (f"{PUBLISHED}{question.subject.name}", question.encoding, question.train, question.test)
    if recorded := _on_record().get(key):
        return recorded
    scales = scales_of(question)
    if question.subject.task and not scales.exact:
        return abstain(f"no such question beyond scale {EXACT} is on record: lengthgen predict answers it by a copy")
    try:
        analysis, prediction = analysis_of(question), prediction_of(question)
    except Unanswered as reason:
        return abstain(str(reason))
    several = SeveralCircuits(analysis, range(1, scales.train + 1), range(1, scales.test + 1))
    forecast = with_forecast(several, parse_encoding(question.encoding), prediction).forecast
    assert forecast
    return Guess(probability=forecast.share, reason=forecast.why)


FORECAST = Theory(
    name="forecast",
    title="forecast",
    statement="The share of recorded runs of random tasks that generalized where the rules of SRC said the same.",
    label="F",
    source="",
    domain="every task that is expressible, with every encoding that has a relation of positions",
    guess=by_forecast,
)
"""The forecast, fitted on one half of our random tasks."""
