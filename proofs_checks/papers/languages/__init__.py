"""Regular languages and the theory of C-RASP (arXiv 2410.02140 and 2608.13433)."""
