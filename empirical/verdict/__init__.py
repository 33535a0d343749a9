"""Verdict on the conjecture: evidence that stays valid while runs are added."""
