"""What position-only linear attention learns: without advice (POLA), with advice (PLAA), and on RPE-Square."""
