"""Theory of a user's own: yes for relative encodings on short tests."""

from lengthgen import abstain, no, yes


def guess(question):
    if question.encoding == "nope":
        return abstain("nothing is said of nope")
    return yes("short") if question.test <= 2 * question.train else no("long", breaks_at=question.train + 1)


def fails(question):
    raise ValueError("no idea")
