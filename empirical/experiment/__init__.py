"""The engine of experiments: cells and their frozen answers, runs and their outcomes, and the statistics that judge."""
