"""What each claim is to come out as: every row of the property matrix holds."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings.catalogue import ENCODINGS

EXPECTED = {f"laws-{name}": (Verdict.VERIFIED, Strength.GENERAL) for name in ENCODINGS} | {
    f"far-{name}": (Verdict.VERIFIED, Strength.GENERAL) for name in ENCODINGS
}
