"""What each claim is to come out as: every row of the property matrix holds."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings.catalogue import with_formulas

EXPECTED = {
    f"{family}-{name}": (Verdict.VERIFIED, Strength.GENERAL)
    for family in ("laws", "far", "cache")
    for name in (encoding.name for encoding in with_formulas())
}
