"""Sequential tasks, circuits and SRC (arXiv 2510.04130, Definition 4 and Figure 1), in our formalisation."""
