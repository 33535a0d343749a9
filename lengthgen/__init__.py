"""Command line of the project, and the pipeline `reproduce`."""
