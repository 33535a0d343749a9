"""Training, evaluation, and sweeps of many runs on one machine or on a cluster."""
