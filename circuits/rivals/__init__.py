"""Theories of length generalization behind one protocol: a question in, a probability or an abstention out."""
