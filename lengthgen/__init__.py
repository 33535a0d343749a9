"""The command line, and the pipeline `reproduce`."""
