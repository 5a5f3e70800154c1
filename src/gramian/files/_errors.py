"""What can go wrong with a model file."""


class ModelFileError(ValueError):
    """A file that this version cannot read as a model, or a model that cannot be saved."""
