"""Learning of position-only linear attention: its learners in closed form, what they learn, and why.

`learners` minimise a quadratic loss in closed form; `pola` states the loss of attention without advice and what is
learned, `flow` derives why labels are learned apart; `plaa` adds advice; `anchored` is the encoding by anchors.
"""
