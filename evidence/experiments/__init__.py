"""One module for each table or figure, with its ``EXPERIMENT``."""
