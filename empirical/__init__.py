"""The torch side: encodings, decoder, data, training, the run store and the test of the conjecture.

Only `decoder`, `encodings` and `training` import torch; all else works without it.
"""
