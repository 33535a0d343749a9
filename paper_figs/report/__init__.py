"""The page to explore everything stored: one HTML file that needs no network and runs no code but its own."""
