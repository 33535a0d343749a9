"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "src-parity": (Verdict.VERIFIED, Strength.GENERAL),
    "src-roles": (Verdict.VERIFIED, Strength.GENERAL),
    "src-induced-aligned": (Verdict.VERIFIED, Strength.GENERAL),
    "src-induced-block": (Verdict.CORRECTED, Strength.GENERAL),
    "src-monotone": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "src-bounded": (Verdict.VERIFIED, Strength.BOUNDED),
    "src-arity": (Verdict.VERIFIED, Strength.BOUNDED),
    "src-hidden": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "src-coverage": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "src-merging": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}
