"""The decoder, alone or many at once, and what a run sets it up with."""
