"""Claims about theories of length generalization: regular languages, rivals of SRC, operators that read counts."""
