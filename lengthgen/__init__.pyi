# Public names by subject; `lengthgen/__init__.py` reads this list, and imports a name when it is first used. A name
# is public in a stub for jedi by `X as X`, and for pyright and mypy by `__all__`.
# isort: skip_file

# Relations between positions, and their order
from lengthgen.theory.lattice import (
    coarsen as coarsen,
    equivalent as equivalent,
    join as join,
    meet as meet,
    refines as refines,
)
from lengthgen.theory.relation import (
    Relation as Relation,
    absolute as absolute,
    clipped_relative as clipped_relative,
    constant as constant,
    from_function as relation_from_function,
    from_labels as relation_from_labels,
    key_position as key_position,
    query_position as query_position,
    relative as relative,
    t5_buckets as t5_buckets,
)

# Attention patterns, their LRC, and what generalizes them
from lengthgen.theory.generalization import (
    judge as judge_relation,
    judge_standard_encodings as judge_standard_encodings,
)
from lengthgen.theory.closed_form import ClosedForm as ClosedForm, closed_form as closed_form
from lengthgen.theory.growth import Growth as Growth, growth as growth
from lengthgen.theory.growth_within import growth_within as growth_within
from lengthgen.theory.lrc import level_sets as level_sets, lrc as lrc, lrc_profile as lrc_profile
from lengthgen.theory.lrc_within import bounds_within as lrc_bounds_within
from lengthgen.theory.generalization import learn as learn, levels_of as levels_of
from lengthgen.theory.pattern import (
    Pattern as Pattern,
    from_array as pattern_from_array,
    from_formula as pattern_from_formula,
    from_function as pattern_from_function,
    from_relation as pattern_from_relation,
)

# Position encodings as formulas
from lengthgen.theory.encodings.catalogue import ENCODINGS as ENCODINGS, named as encoding_named
from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS as DISTANCE_LAWS,
    HEADS as HEADS,
    ONE_LAW as ONE_LAW,
    Encoding as Encoding,
    Law as Law,
    Parameter as Parameter,
    Recovery as Recovery,
)
from lengthgen.theory.laws import decide_law as decide_law

# Tasks, circuits, SRC, predictions
from lengthgen.circuits.analysis import Analysis as Analysis, analyse as analyse
from lengthgen.circuits.certificate import certificate as certificate
from lengthgen.circuits.checker import check as check_certificate
from lengthgen.circuits.encoding_spec import parse_encoding as parse_encoding, parse_encodings as parse_encodings
from lengthgen.circuits.induced import induced_complexity as induced_complexity
from lengthgen.empirical.studies.theories.c_rasp import decide as decide_c_rasp
from lengthgen.circuits.languages.regular import minimal_automaton as minimal_automaton
from lengthgen.circuits.forecast.other_circuits import (
    MinimisedRule as MinimisedRule,
    SeveralCircuits as SeveralCircuits,
)
from lengthgen.circuits.prediction import predict as predict
from lengthgen.circuits.prediction_record import Forecast as Forecast, Prediction as Prediction
from lengthgen.circuits.src import (
    SRCResult as SRCResult,
    minimal_arity as minimal_arity,
    src as src,
    traces_up_to as traces_up_to,
)
from lengthgen.circuits.task import Reference as Reference, Task as Task, TaskError as TaskError
from lengthgen.circuits.tasks import TASKS as TASKS, load as load_task
from lengthgen.circuits.tasks.transducer import Transducer as Transducer
from lengthgen.circuits.tasks.two_scales import TwoScaleTask as TwoScaleTask

# Forecasts from recorded runs
from lengthgen.questions.predict import Forecasts as Forecasts, forecast as forecast

# Theories of length generalization
from lengthgen.empirical.studies.theories.theories import THEORIES as THEORIES
from lengthgen.empirical.studies.theories.rival import (
    Guess as Guess,
    Question as Question,
    abstain as abstain,
    no as no,
    yes as yes,
)

# Claims
from lengthgen.proofs_checks.claim import (
    Claim as Claim,
    Evidence as Evidence,
    Refuted as Refuted,
    Source as Source,
    Strength as Strength,
    Unsettled as Unsettled,
)
from lengthgen.proofs_checks.facts import require_equal as require_equal
from lengthgen.proofs_checks.paper import PaperClaims as PaperClaims, refute as refute
from lengthgen.proofs_checks.registry import select as select_claims
from lengthgen.proofs_checks.runner import run as run_claims

# Training, verdicts, figures: as the commands of these names
from lengthgen.questions.figures import figure as figure
from lengthgen.questions.rounds import conjecture as conjecture, train as train

# Audit, encodings in torch, stored runs (need the extra `train`)
from lengthgen.empirical.audit.lawful import assert_lawful as assert_lawful
from lengthgen.empirical.encodings.base import PairBias as PairBias, PositionEncoding as PositionEncoding
from lengthgen.empirical.experiment.store import RunStore as RunStore
from lengthgen.questions.auditing import audit as audit

# Errors that the user of a command or function can correct
from lengthgen.infrastructure.errors import LengthgenError as LengthgenError

__all__ = [
    "DISTANCE_LAWS",
    "ENCODINGS",
    "HEADS",
    "ONE_LAW",
    "TASKS",
    "THEORIES",
    "Analysis",
    "Claim",
    "ClosedForm",
    "Encoding",
    "Evidence",
    "Forecast",
    "Forecasts",
    "Growth",
    "Guess",
    "Law",
    "LengthgenError",
    "MinimisedRule",
    "PairBias",
    "PaperClaims",
    "Parameter",
    "Pattern",
    "PositionEncoding",
    "Prediction",
    "Question",
    "Recovery",
    "Reference",
    "Refuted",
    "Relation",
    "RunStore",
    "SRCResult",
    "SeveralCircuits",
    "Source",
    "Strength",
    "Task",
    "TaskError",
    "Transducer",
    "TwoScaleTask",
    "Unsettled",
    "absolute",
    "abstain",
    "analyse",
    "assert_lawful",
    "audit",
    "certificate",
    "check_certificate",
    "clipped_relative",
    "closed_form",
    "coarsen",
    "conjecture",
    "constant",
    "decide_c_rasp",
    "decide_law",
    "encoding_named",
    "equivalent",
    "figure",
    "forecast",
    "growth",
    "growth_within",
    "induced_complexity",
    "join",
    "judge_relation",
    "judge_standard_encodings",
    "key_position",
    "learn",
    "level_sets",
    "levels_of",
    "load_task",
    "lrc",
    "lrc_bounds_within",
    "lrc_profile",
    "meet",
    "minimal_arity",
    "minimal_automaton",
    "no",
    "parse_encoding",
    "parse_encodings",
    "pattern_from_array",
    "pattern_from_formula",
    "pattern_from_function",
    "pattern_from_relation",
    "predict",
    "query_position",
    "refines",
    "refute",
    "relation_from_function",
    "relation_from_labels",
    "relative",
    "require_equal",
    "run_claims",
    "select_claims",
    "src",
    "t5_buckets",
    "traces_up_to",
    "train",
    "yes",
]
