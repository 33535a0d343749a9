"""Extrapolation in text: byte-level language models trained at one length and tested at longer ones."""
