"""Claim of a user's own whose falsifier is the statement itself."""

from claims import bounded, claim

CLAIMS = [claim("bounded-5", bounded, bounded)]
