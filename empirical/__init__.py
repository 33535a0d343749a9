"""Experiments: torch modules of encodings, models, the engine of experiments and its protocols, audits of other code.

Protocols are `trial`, `verdict`, `court`, `text` and `modular_addition`. What trains or audits imports torch; plans,
stored runs, outcomes and judgements are read without it.
"""
