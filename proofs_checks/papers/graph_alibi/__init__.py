"""Claims about graph ALiBi (Gurev and Rumbell, S23D, arXiv 2506.19834).

Only the abstract of the paper and notes on it were within reach: the bias is the paper's, the statements are ours.
"""
