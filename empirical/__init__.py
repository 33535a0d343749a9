"""Torch part of the project: encodings, decoder, data, training, the run store and the test of the conjecture.

Only `audit`, `encodings`, `model` and `training` import torch; everything else works without it.
"""
