"""Questions stratified by disagreement: random tasks on which two theories contradict each other, and what they cost.

Most random tasks fail under every theory, so that a result on them decides nothing.  Here random circuits and random
languages are drawn and sorted into strata (which theory says yes, which no, and where the latter expects the break).
Each cell of a stratum can refute one of the two theories.  The number of draws is fixed, so that shares are unbiased.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from time import process_time
from typing import Any

from lengthgen.circuits.tasks import parse_task
from lengthgen.circuits.tasks.families import WITH_STATES
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.circuits.tasks.random_circuits import drawn_name
from lengthgen.empirical.experiment.judge import says, share
from lengthgen.empirical.studies.court.trial import Frozen, guess_as_json
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory

TRAIN, TEST = 4, 9
"""Largest scales of training and test of every question."""
ENCODINGS = ("nope", "offset-ape", "rope", "t5", "ipe-sh")
"""Encodings of the questions; each is drawn with the same probability."""
MAX_STATES, SYMBOLS = 4, 2
"""Largest number of states of a random language, and its number of symbols."""
BASE = 2
"""Base of random circuits."""
IN_TRAINING = "no within training"
"""Kind of a question of which one theory says no at a trained scale: a run that fits cannot decide it."""
APART = ("abstains", "both yes", "both no", IN_TRAINING)
"""Kinds of questions that are in no stratum."""
LANGUAGES = 50
"""Number of languages with the same seed among which one is drawn."""


@dataclass(kw_only=True)
class Stratum:
    """Cells on which one theory says yes and the other no.

    Attributes:
        yes, no: names of the theories that say so.
        breaks_at: first scale at which the second theory expects a failure; None if it does not say.
        count: number of drawn questions that belong here.
        cells: the first of these, by name, with both answers.
    """

    yes: str
    no: str
    breaks_at: int | None
    count: int = 0
    cells: dict[str, tuple[Question, dict[str, Guess]]] = field(default_factory=dict)

    def as_json(self, drawn: int, per_stratum: int, seconds: float) -> dict[str, Any]:
        """Return the share of the drawn questions, the cost of a cell, and the cells.

        Args:
            drawn: number of drawn questions.
            per_stratum: largest number of cells.
            seconds: mean time of a question.
        """
        return {
            "yes": self.yes,
            "no": self.no,
            "breaks_at": self.breaks_at,
            "share": asdict(share(self.count, drawn)),
            "full": len(self.cells) >= per_stratum,
            "questions_per_cell": round(drawn / self.count, 1),
            "seconds_per_cell": round(seconds * drawn / self.count, 2),
            "cells": [
                {
                    "name": name,
                    "task": question.subject.name,
                    "encoding": question.encoding,
                    "guesses": {theory: guess_as_json(guess) for theory, guess in guesses.items()},
                }
                for name, (question, guesses) in self.cells.items()
            ],
        }


def questions(seed: int) -> Iterator[Question]:
    """Yield random questions, endless; half are about circuits, half about languages, at once or with states.

    The name of a subject is that of its task (`lengthgen.circuits.tasks.parse_task`), so that it can be loaded again.
    """
    source = random.Random(seed)
    while True:
        subject = _circuit(source) if source.random() < 0.5 else _language(source)
        yield Question(subject=subject, encoding=source.choice(ENCODINGS), train=TRAIN, test=TEST)


def _circuit(source: random.Random) -> Subject:
    """Return the task of a random circuit."""
    name = f"{drawn_name(source, largest_rise=TEST)}[base={BASE}]"
    return Subject(name=name, words="", arxiv="", task=parse_task(name).plain)


def _language(source: random.Random) -> Subject:
    """Return the task of a random language, at once or with states."""
    from lengthgen.circuits.languages.random_languages import random_language

    states, seed, index = source.randint(2, MAX_STATES), source.randrange(10**6), source.randrange(LANGUAGES)
    language = f"random-language-{states}-{SYMBOLS}-{seed}-{index}"
    with_states = parse_task(language + WITH_STATES)
    if source.random() < 0.5:
        task, automaton = parse_task(language).plain, random_language(language)
        return Subject(name=language, words="", arxiv="", task=task, language=automaton, with_states=with_states.plain)
    return Subject(name=with_states.name, words="", arxiv="", task=with_states.plain)


def stratified(first: Theory, second: Theory, drawn: Iterable[Question], *, per_stratum: int) -> dict[str, Any]:
    """Sort drawn questions into strata by the disagreement of two theories.

    Returns:
        JSON: the share of questions on which the theories agree or one abstains, each stratum with its share, its cells
        and its expected cost, and the hash of all answers to chosen questions.
    """
    strata: dict[tuple[str, str, int | None], Stratum] = {}
    apart: Counter[str] = Counter()
    count, begun = 0, process_time()
    for question in drawn:
        count += 1
        guesses = {theory.name: theory.guess(question) for theory in (first, second)}
        answers = [says(guess.probability) for guess in guesses.values()]
        if None in answers or answers[0] == answers[1]:
            apart["abstains" if None in answers else "both yes" if answers[0] else "both no"] += 1
            continue
        yes, no = (first.name, second.name) if answers[0] else (second.name, first.name)
        breaks_at = guesses[no].breaks_at
        if breaks_at is not None and breaks_at <= question.train:
            apart[IN_TRAINING] += 1
            continue
        stratum = strata.setdefault((yes, no, breaks_at), Stratum(yes=yes, no=no, breaks_at=breaks_at))
        stratum.count += 1
        if len(stratum.cells) < per_stratum:
            stratum.cells[f"{question.subject.name}/{question.encoding}"] = (question, guesses)
    seconds = (process_time() - begun) / max(1, count)
    ordered = sorted(strata.values(), key=lambda stratum: (stratum.yes, stratum.no, stratum.breaks_at or 0))
    guesses_of = {
        theory.name: {name: cell[1][theory.name] for stratum in ordered for name, cell in stratum.cells.items()}
        for theory in (first, second)
    }
    return {
        "first": first.name,
        "second": second.name,
        "train": TRAIN,
        "test": TEST,
        "questions": count,
        "seconds_per_question": round(seconds, 4),
        "apart": {kind: asdict(share(apart[kind], count)) for kind in APART},
        "strata": [stratum.as_json(count, per_stratum, seconds) for stratum in ordered],
        "frozen": Frozen(guesses=guesses_of).digest,
    }
