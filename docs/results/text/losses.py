"""Print the loss of the last 32 bytes by encoding: PYTHONPATH=. python docs/results/text/losses.py."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

ANSWER = json.loads((Path(__file__).parent / "answer.json").read_text())
TRAINED, LONGEST = "128", "2048"


def lines() -> Iterator[str]:
    """Yield a line for each encoding, the smallest rise first: loss after 128 bytes, rise after 2,048, that by seed."""
    rises = {
        name: [late - early for early, late in zip(of[TRAINED]["last"], of[LONGEST]["last"], strict=True)]
        for name, of in ANSWER["encodings"].items()
    }
    for name, by_seed in sorted(rises.items(), key=lambda item: fmean(item[1])):
        loss = fmean(ANSWER["encodings"][name][TRAINED]["last"])
        seeds = ", ".join(f"{rise:z.2f}" for rise in sorted(by_seed))
        yield f"| {name} | {loss:.2f} | {fmean(by_seed):z.2f} | {seeds} |"


if __name__ == "__main__":
    print("\n".join(lines()))
