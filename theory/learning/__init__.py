"""What position-only linear attention learns.

`learners` minimise a quadratic loss in closed form; `pola` states the loss of attention without advice and what is
learned, `flow` derives why labels are learned apart; `plaa` adds advice; `anchored` is the encoding by anchors.
"""
