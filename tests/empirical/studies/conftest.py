"""Commands of studies are called as those of the core are."""

from tests.lengthgen.conftest import answer, claims_run_here, mine, run, told_of_every_piece, trained_here

__all__ = ["answer", "claims_run_here", "mine", "run", "told_of_every_piece", "trained_here"]
