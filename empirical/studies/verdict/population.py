"""Population of random tasks on which the rules are judged: stratified, without repetition, in two halves.

A stratum is where the task comes from (a wiring of a random circuit, perhaps with arguments that are swapped beyond
training, another kind of random tasks, or regular languages of a kind that write their states) and how its SRC goes on
beyond training: it stays the same, rises once, or rises again and again.  The profile is computed, since a name
promises only what was drawn: another circuit may need fewer operators.  Languages and circuits with swapped arguments
have the stratum "invariant" alone, as one operator serves every scale.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse, digest_of
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.forecast.record import recorded_cells
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import parse_task
from lengthgen.circuits.tasks.families import RANDOM_LANGUAGE, WITH_STATES
from lengthgen.circuits.tasks.other_kinds import KINDS
from lengthgen.circuits.tasks.random_circuits import SWAPS, WIRINGS
from lengthgen.empirical.studies.theories.src_rules import MAX_STEPS

TRAIN, TEST = 5, 20
"""Largest scales of training and of the test."""
RISES = (6, 15)
"""First and last step from which a circuit may have its second operator, or its arguments swapped."""
BASES = (2, 3)
"""Bases of random circuits; each is drawn with the same probability."""
STATES, LETTERS, LANGUAGES = (2, 5), 2, 50
"""Fewest and most states of a language, usual number of its letters, and languages of a seed among which one is drawn.
"""
DRAWS = 4
"""Largest number of draws for each task that is asked for."""
NAMES = 10_000
"""Largest number of names among which one of a language of a source is looked for: one in ten fits."""
INVARIANT, ONCE, GROWS, OPEN = "invariant", "rises", "grows", "open"
"""Profiles of SRC beyond training: it stays the same, rises at one scale, or at several; or it is not settled."""
LANGUAGE, OWN_LETTER, DEFINITE = "language", "own-letter language", "definite language"
"""Sources of languages: any; those whose own letter decides each state beyond training; other definite ones."""
SWAPPED: Mapping[str, str] = {f"swapped {wiring}": wiring for wiring in WIRINGS}
"""Sources of circuits with swapped arguments -> their wirings."""
SOURCES: Mapping[str, tuple[str, ...]] = (
    dict.fromkeys(WIRINGS, (INVARIANT, ONCE, GROWS))
    | dict.fromkeys((LANGUAGE, OWN_LETTER, DEFINITE, *SWAPPED), (INVARIANT,))
    | dict.fromkeys(KINDS, (INVARIANT, ONCE))
)
"""Where a task may come from -> profiles of its strata."""
BY_HAND = "by hand"
"""Source of tasks that are named one by one."""
USUAL = (*WIRINGS, LANGUAGE)
"""Sources of a population that names none."""
ENCODINGS = ("ipe-sh", "ipe", "rpe", "clipped", "t5", "alibi", "rope", "ape", "offset-ape", "nope")
"""Encodings of the cells; all have a relation, and ipe only where roles do not change with the scale."""
HALVES = ("amendment", "judgement")
"""Halves of the population: the first may be looked at to amend the rules, the second judges them."""


@dataclass(frozen=True, kw_only=True)
class DrawnTask:
    """Task of the population.

    Attributes:
        name: name that `lengthgen.circuits.tasks.parse_task` reads; it names no format.
        source: one of SOURCES, or BY_HAND.
        profile: one of INVARIANT, ONCE, GROWS; OPEN for tasks by hand alone.
        rises_at: first scale above TRAIN at which SRC is larger than at TRAIN; None if there is none up to TEST.
    """

    name: str
    source: str
    profile: str
    rises_at: int | None

    @property
    def stratum(self) -> str:
        """Name of the stratum."""
        return f"{self.source} {self.profile}"

    @property
    def half(self) -> str:
        """Half to which the task belongs."""
        return half_of(self.name)

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats of its cells; where outputs stand between the symbols of the prompt nothing can be padded."""
        return formats_of(self.source)


def formats_of(source: str) -> tuple[str, ...]:
    """Return the formats in which tasks of a source are trained."""
    return ("unaligned",) if _is_language(source) or source == "interleaved" else ("aligned", "filled")


def _is_language(source: str) -> bool:
    """True for a source of languages, False for one of circuits."""
    return source in (LANGUAGE, OWN_LETTER, DEFINITE)


def hash_order(name: str) -> str:
    """Return the key by which tasks are sorted: SHA-256 of the name, which nobody chose with the outcomes in view."""
    return hashlib.sha256(name.encode()).hexdigest()


def half_of(name: str) -> str:
    """Return the half of the population to which a task's name belongs, by its hash."""
    return HALVES[int(hash_order(name)[:2], 16) % 2]


def draw(
    seed: int,
    count: int,
    sources: Sequence[str] = USUAL,
    letters: int = LETTERS,
    profiles: Sequence[str] = (INVARIANT, ONCE, GROWS),
    named: Sequence[str] = (),
    unlike: Sequence[str] = (),
    *,
    progress: Callable[[int, int], None] = lambda drawn, count: None,
) -> list[DrawnTask]:
    """Return at most `count` different random tasks, as evenly over strata as at most DRAWS * count draws allow.

    Each draw aims at an open stratum, those with fewest tasks first.  A task is left out if it was drawn before under
    another name, if its outputs depend on no prompt, if its SRC is not settled, or if its stratum is full.

    Args:
        seed: seed of the draw.
        count: number of tasks.
        sources: some of SOURCES.
        letters: number of letters of a language.
        profiles: profiles of the strata; other strata of the sources are left out.
        named: names of tasks that come after the random ones, whatever they are.
        unlike: records of `circuits.forecast` whose random tasks are not drawn again under another name.
        progress: called with (tasks that are drawn, `count`), first with 0.

    Raises:
        TaskError: a source has no language of so many letters, or no source has one of the profiles.
    """
    numbers = random.Random(seed)
    strata = [(source, profile) for source in sources for profile in SOURCES[source] if profile in profiles]
    if not strata:
        raise TaskError(f"no source of {', '.join(sources)} has a profile of {', '.join(profiles)}")
    quotas = {stratum: count // len(strata) + (place < count % len(strata)) for place, stratum in enumerate(strata)}
    tasks: list[DrawnTask] = []
    counts: Counter[tuple[str, str]] = Counter()
    aimed: Counter[tuple[str, str]] = Counter()
    digests = _recorded_digests(unlike)
    progress(0, count)
    for _ in range(DRAWS * count):
        open_strata = [stratum for stratum in strata if counts[stratum] < quotas[stratum]]
        if not open_strata:
            break
        aim = min(open_strata, key=lambda stratum: (aimed[stratum], strata.index(stratum)))
        aimed[aim] += 1
        name = _name(numbers, *aim, letters)
        analysis = _analysis(name, aim[0])
        if analysis is None or is_constant(analysis):
            continue
        profile = profile_of(analysis)
        digest = digest_of(analysis)
        if profile is None or digest in digests:
            continue
        stratum = (aim[0], profile[0])
        if counts[stratum] < quotas.get(stratum, 0):
            digests.add(digest)
            counts[stratum] += 1
            tasks.append(DrawnTask(name=name, source=aim[0], profile=profile[0], rises_at=profile[1]))
            progress(len(tasks), count)
    return [*tasks, *map(_by_hand, named)]


def _recorded_digests(records: Sequence[str]) -> set[str]:
    """Return the digests of the random tasks of some records, in the first of their formats."""
    names = {cell.name for cell in recorded_cells() if cell.record in records}
    analyses = (_analysis(name, LANGUAGE if name.startswith(RANDOM_LANGUAGE) else BY_HAND) for name in sorted(names))
    return {digest_of(analysis) for analysis in analyses if analysis}


def _by_hand(name: str) -> DrawnTask:
    """Return a named task with its profile."""
    analysis = _analysis(name, BY_HAND)
    profile, rises_at = (analysis and profile_of(analysis)) or (OPEN, None)
    return DrawnTask(name=name, source=BY_HAND, profile=profile, rises_at=rises_at)


def _name(numbers: random.Random, source: str, profile: str, letters: int) -> str:
    """Return a random name of a task that aims at a stratum."""
    if _is_language(source):
        for _ in range(NAMES):
            states, seed, index = numbers.randint(*STATES), numbers.randrange(10**6), numbers.randrange(LANGUAGES)
            name = f"{RANDOM_LANGUAGE}{states}-{letters}-{seed}-{index}"
            if _is_of_source(name, source):
                return f"{name}{WITH_STATES}"
        raise TaskError(f"no {source} of {letters} letters among {NAMES:,}")
    change = "rises" if profile == ONCE else SWAPS if source in SWAPPED else ""
    growth = f"{change}{numbers.randint(*RISES)}" if change else profile
    return f"random-{SWAPPED.get(source, source)}-{growth}-{numbers.randrange(10**9)}[base={numbers.choice(BASES)}]"


def _is_of_source(name: str, source: str) -> bool:
    """True if there is a language of this name, and if its automaton is as the source says."""
    from lengthgen.circuits.languages.random_languages import random_language
    from lengthgen.circuits.languages.regular import LanguageError, definiteness, own_letter_decides

    if source == LANGUAGE:
        return True
    try:
        automaton = random_language(name)
    except LanguageError:
        return False
    own_letter = own_letter_decides(automaton, TRAIN + 1, TEST)
    return own_letter if source == OWN_LETTER else not own_letter and definiteness(automaton) is not None


def _analysis(name: str, source: str) -> Analysis | None:
    """Return the analysis of a task up to TEST, in the first of its formats.

    None if it is stopped, if there is no such language, or if the language has no words of some scale.
    """
    try:
        return analyse(parse_task(name).plain(), formats_of(source)[0], TEST, clock=Clock(steps=MAX_STEPS))
    except SearchStopped:
        return None
    except TaskError:
        if _is_language(source):
            return None
        raise


def is_constant(analysis: Analysis) -> bool:
    """True if all outputs of the first scale beyond training are the same for every prompt."""
    trace = analysis.traces[TRAIN]
    outputs = trace.tokens[[position - 1 for position in trace.steps]]
    return bool((outputs == outputs[:, :1]).all())


def profile_of(analysis: Analysis) -> tuple[str, int | None] | None:
    """Return the profile of SRC beyond TRAIN, and the first scale at which it is larger; None if it is not settled."""
    if analysis.result is None:
        return None
    values = [analysis.result.values[scale] for scale in range(TRAIN, TEST + 1)]
    if None in values:
        return None
    rises = [TRAIN + 1 + place for place in range(len(values) - 1) if values[place] != values[place + 1]]
    if not rises:
        return INVARIANT, None
    return (ONCE if len(rises) == 1 else GROWS), rises[0]
