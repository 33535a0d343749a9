"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "pola-1a": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1c": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1d": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1e": (Verdict.VERIFIED, Strength.BOUNDED),
    "pola-1e-count": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1-boundary": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2a": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2c": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2-start": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2-flow": (Verdict.VERIFIED, Strength.GENERAL),
    "pola-2-learners": (Verdict.VERIFIED, Strength.NUMERIC),
    "pola-2-worked": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-bases": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-rank": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-monotone": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-vector": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}
