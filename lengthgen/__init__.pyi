# Public names, each with its home; `lengthgen/__init__.py` imports a name when it is first used.

# Relations between positions, and their order
from theory.lattice import coarsen as coarsen
from theory.lattice import equivalent as equivalent
from theory.lattice import join as join
from theory.lattice import meet as meet
from theory.lattice import refines as refines
from theory.relation import Relation as Relation
from theory.relation import absolute as absolute
from theory.relation import clipped_relative as clipped_relative
from theory.relation import constant as constant
from theory.relation import from_function as relation_from_function
from theory.relation import from_labels as relation_from_labels
from theory.relation import key_position as key_position
from theory.relation import query_position as query_position
from theory.relation import relative as relative
from theory.relation import t5_buckets as t5_buckets

# Attention patterns, their LRC, and what generalizes them
from theory.generalization import judge as judge_relation
from theory.generalization import judge_standard_encodings as judge_standard_encodings
from theory.growth import Growth as Growth
from theory.growth import growth as growth
from theory.growth_within import growth_within as growth_within
from theory.lrc import level_sets as level_sets
from theory.lrc import lrc as lrc
from theory.lrc import lrc_profile as lrc_profile
from theory.lrc_within import bounds_within as lrc_bounds_within
from theory.outcome import learn as learn
from theory.outcome import levels_of as levels_of
from theory.pattern import Pattern as Pattern
from theory.pattern import from_array as pattern_from_array
from theory.pattern import from_formula as pattern_from_formula
from theory.pattern import from_function as pattern_from_function
from theory.pattern import from_relation as pattern_from_relation

# Position encodings as formulas
from theory.encodings.catalogue import ENCODINGS as ENCODINGS
from theory.encodings.catalogue import named as encoding_named
from theory.encodings.encoding import DISTANCE_LAWS as DISTANCE_LAWS
from theory.encodings.encoding import HEADS as HEADS
from theory.encodings.encoding import ONE_LAW as ONE_LAW
from theory.encodings.encoding import Encoding as Encoding
from theory.encodings.encoding import Law as Law
from theory.encodings.encoding import Parameter as Parameter
from theory.encodings.encoding import Recovery as Recovery
from theory.laws import decide_law as decide_law

# Tasks, circuits, SRC, predictions
from circuits.analysis import Analysis as Analysis
from circuits.analysis import analyse as analyse
from circuits.certificate import certificate as certificate
from circuits.checker import check as check_certificate
from circuits.encodings import parse_encoding as parse_encoding
from circuits.encodings import parse_encodings as parse_encodings
from circuits.induced import induced_complexity as induced_complexity
from circuits.prediction import Prediction as Prediction
from circuits.prediction import predict as predict
from circuits.src import SRCResult as SRCResult
from circuits.src import minimal_arity as minimal_arity
from circuits.src import src as src
from circuits.src import traces_up_to as traces_up_to
from circuits.task import Reference as Reference
from circuits.task import Task as Task
from circuits.task import TaskError as TaskError
from circuits.tasks import TASKS as TASKS
from circuits.tasks import load as load_task
from circuits.transducer import Transducer as Transducer
from circuits.two_scales import TwoScaleTask as TwoScaleTask

# Theories of length generalization
from circuits.theories.catalogue import THEORIES as THEORIES
from circuits.theories.theory import Guess as Guess
from circuits.theories.theory import Question as Question
from circuits.theories.theory import abstain as abstain
from circuits.theories.theory import no as no
from circuits.theories.theory import yes as yes

# Claims
from proofs_checks.claim import Claim as Claim
from proofs_checks.claim import Evidence as Evidence
from proofs_checks.claim import Refuted as Refuted
from proofs_checks.claim import Source as Source
from proofs_checks.claim import Strength as Strength
from proofs_checks.claim import Unsettled as Unsettled
from proofs_checks.identity import require_equal as require_equal

# Torch (needs the extra `train`)
from empirical.encodings.base import PairBias as PairBias
from empirical.encodings.base import PositionEncoding as PositionEncoding
from empirical.runs.store import RunStore as RunStore

# Errors that the user of a command or function can correct
from theory.system.errors import LengthgenError as LengthgenError
