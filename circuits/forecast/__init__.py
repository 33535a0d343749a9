"""Forecast: the share of fitting runs that should generalize, from comparable runs on record.

The rules of `lengthgen.circuits.prediction` answer yes or no. The forecast counts what recorded runs did where the
rules gave the same answers, for the same kind and start of labels, operands and bits an output. `features` says what is
compared, `record` holds the runs, `table` counts them, `ask` answers, and `scores` says how good the answers are.
"""
