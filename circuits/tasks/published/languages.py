"""Regular languages of published experiments on length generalization (arXiv 2410.02140, section 5 and appendix).

The tests check the expressions against the definitions in words.

Traps: the public program of the paper labels two languages otherwise (github lacoco-lab/length_generalization,
`formal_lang_suite/generators`, read on 24 November 2026).  For Tomita 3 it takes the state after an odd run of zeros
for a dead one, so it forbids 0 after an odd run of ones, and after an even run of zeros behind it.  For 012 it lets a
word end only after a 2.  The paper's numbers for these two differ from those of arXiv 2602.08857; this may be why.
"""

from collections.abc import Mapping


def bounded_depth(depth: int) -> str:
    """Return the expression of D_n, the words of balanced a and b at most n deep: D_n = (a D_(n-1) b)*, D_1 = (ab)*."""
    expression = "(ab)*"
    for _ in range(depth - 1):
        expression = f"(a{expression}b)*"
    return expression


LANGUAGES: Mapping[str, tuple[str, str]] = {
    "tomita1": ("1*", "words of ones"),
    "tomita2": ("(10)*", "repetitions of 10"),
    "tomita3": (
        "(0+1(00(00)*1)*1)*(()+1(00(00)*1)*(00)*)",
        "binary words in which no odd run of ones is followed by an odd run of zeros",
    ),
    "tomita4": ("(1+01+001)*(()+0+00)", "binary words without 000"),
    "tomita5": ("(00+11+(01+10)(00+11)*(01+10))*", "binary words with an even number of zeros and of ones"),
    "tomita6": ("(10+(0+11)(01)*(1+00))*", "binary words whose numbers of zeros and ones are equal modulo 3"),
    "tomita7": ("0*1*0*1*", "binary words of at most four runs, the first of zeros"),
    "d-2": (bounded_depth(2), "balanced brackets a and b at most 2 deep"),
    "d-3": (bounded_depth(3), "balanced brackets a and b at most 3 deep"),
    "d-4": (bounded_depth(4), "balanced brackets a and b at most 4 deep"),
    "d-12": (bounded_depth(12), "balanced brackets a and b at most 12 deep"),
    "aabbccddee": ("aa*bb*cc*dd*ee*", "runs of a, b, c, d and e, one after the other"),
    "adbc": ("(a+b)*d(b+c)*", "words over a and b, then d, then a word over b and c"),
    "012": ("(0+1+2)*02*", "words over 0, 1 and 2 in which a 0 comes after the last 1, if any"),
    "(aa)*": ("(aa)*", "words of a of even length"),
    "(aaaa)*": ("(aaaa)*", "words of a whose length is a multiple of 4"),
    "(abab)*": ("(abab)*", "repetitions of abab"),
}
"""Name -> regular expression and words of the language."""
