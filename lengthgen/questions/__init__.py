"""Questions of the command line, one module each: its options, its answer as plain data, and the answer as a table."""
