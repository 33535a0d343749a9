"""The engine of experiments: cells and frozen answers, training and its store, outcomes, and statistics that judge."""
