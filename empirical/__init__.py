"""Experiments: torch modules of encodings, models, the engine of experiments, the protocol `trial`, audits of code.

Finished studies are the annex, `studies`. What trains or audits imports torch; plans, stored runs, outcomes and
judgements are read without it.
"""
