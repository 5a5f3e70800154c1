"""What can go wrong with a model file."""


class ModelFileError(ValueError):
    """A file that holds no model this version can read, or a model that no file can hold."""
