"""What all tests share: the oracles can be imported as `tests.oracles`, and random tests do not hang on the clock."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent.parent))

# Derandomised, so that a run that fails does so again; no deadline, since machines are shared.
settings.register_profile("suite", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("suite")
