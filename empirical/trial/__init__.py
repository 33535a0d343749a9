"""The conjecture on trial: outcomes of runs beside predictions, with the statistics that decide."""
