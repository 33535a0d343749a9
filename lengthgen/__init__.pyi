# Public names by subject; `lengthgen/__init__.py` reads this list, and imports a name when it is first used.
# isort: skip_file

# Relations between positions, and their order
from theory.lattice import coarsen, equivalent, join, meet, refines
from theory.relation import (
    Relation,
    absolute,
    clipped_relative,
    constant,
    from_function as relation_from_function,
    from_labels as relation_from_labels,
    key_position,
    query_position,
    relative,
    t5_buckets,
)

# Attention patterns, their LRC, and what generalizes them
from theory.generalization import judge as judge_relation, judge_standard_encodings
from theory.growth import Growth, growth
from theory.growth_within import growth_within
from theory.lrc import level_sets, lrc, lrc_profile
from theory.lrc_within import bounds_within as lrc_bounds_within
from theory.outcome import learn, levels_of
from theory.pattern import (
    Pattern,
    from_array as pattern_from_array,
    from_formula as pattern_from_formula,
    from_function as pattern_from_function,
    from_relation as pattern_from_relation,
)

# Position encodings as formulas
from theory.encodings.catalogue import ENCODINGS, named as encoding_named
from theory.encodings.encoding import DISTANCE_LAWS, HEADS, ONE_LAW, Encoding, Law, Parameter, Recovery
from theory.laws import decide_law

# Tasks, circuits, SRC, predictions
from circuits.analysis import Analysis, analyse
from circuits.certificate import certificate
from circuits.checker import check as check_certificate
from circuits.encodings import parse_encoding, parse_encodings
from circuits.induced import induced_complexity
from circuits.languages.c_rasp import decide as decide_c_rasp
from circuits.languages.regular import minimal_automaton
from circuits.other_circuits import LatestBreaks, SeveralCircuits
from circuits.prediction import predict
from circuits.prediction_record import Forecast, Prediction
from circuits.src import SRCResult, minimal_arity, src, traces_up_to
from circuits.task import Reference, Task, TaskError
from circuits.tasks import TASKS, load as load_task
from circuits.transducer import Transducer
from circuits.two_scales import TwoScaleTask

# Forecasts from recorded runs
from lengthgen.predicting import Forecasts, forecast

# Theories of length generalization
from circuits.theories.catalogue import THEORIES
from circuits.theories.theory import Guess, Question, abstain, no, yes

# Claims
from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength, Unsettled
from proofs_checks.identity import require_equal
from proofs_checks.registry import select as select_claims
from proofs_checks.runner import run as run_claims

# Torch (needs the extra `train`)
from empirical.encodings.base import PairBias, PositionEncoding
from empirical.runs.store import RunStore

# Errors that the user of a command or function can correct
from theory.system.errors import LengthgenError

__all__ = [
    "DISTANCE_LAWS",
    "ENCODINGS",
    "HEADS",
    "ONE_LAW",
    "TASKS",
    "THEORIES",
    "Analysis",
    "Claim",
    "Encoding",
    "Evidence",
    "Forecast",
    "Forecasts",
    "Growth",
    "Guess",
    "LatestBreaks",
    "Law",
    "LengthgenError",
    "PairBias",
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
    "certificate",
    "check_certificate",
    "clipped_relative",
    "coarsen",
    "constant",
    "decide_c_rasp",
    "decide_law",
    "encoding_named",
    "equivalent",
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
    "relation_from_function",
    "relation_from_labels",
    "relative",
    "require_equal",
    "run_claims",
    "select_claims",
    "src",
    "t5_buckets",
    "traces_up_to",
    "yes",
]
