"""Published results on length generalization: numbers only, each with its source."""
