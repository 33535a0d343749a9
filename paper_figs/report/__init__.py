"""Report page: one HTML file that shows all stored results, needs no network and runs only its own script."""
