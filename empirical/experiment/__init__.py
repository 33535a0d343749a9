"""Experiments: what is trained and tested, the training, the store of runs, and what is concluded from them."""
