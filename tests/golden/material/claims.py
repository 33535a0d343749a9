"""Claims of a user's own: one that holds, one that is refuted, one whose falsifier is not rejected."""

from fractions import Fraction

from lengthgen import Claim, Evidence, Refuted, Source, Strength

FARTHEST = 50


def prefers_nearer_keys(*, bias):
    """Decide that of two neighbouring distances the smaller one has the larger bias."""
    for distance in range(FARTHEST):
        near, far = bias(distance), bias(distance + 1)
        if not far < near:
            raise Refuted(f"the bias is {near} at distance {distance} and {far} at distance {distance + 1}")
    return Evidence(strength=Strength.EXHAUSTIVE, reach=f"D <= {FARTHEST}", facts=(f"{FARTHEST} pairs compared",))


def claim(name, bias, other):
    return Claim(
        id=name,
        source=Source(paper="Mine", arxiv="2601.00001", place="Section 3"),
        statement="The bias prefers every nearer key, for D <= 50.",
        latex=r"-\tfrac{D+1}{D+2}<-\tfrac{D}{D+1}",
        label="F",
        check=prefers_nearer_keys,
        holds={"bias": bias},
        falsifiers={"another bias": {"bias": other}},
    )


def bounded(distance):
    return Fraction(-distance, 1 + distance)


def steps(distance):
    return Fraction(-(distance // 16))


CLAIMS = [
    claim("bounded-1", bounded, steps),
    claim("bounded-2", steps, lambda distance: Fraction(0)),
    claim("bounded-3", bounded, lambda distance: Fraction(-distance)),
]
SAME = claim("bounded-4", bounded, steps)
