"""How a stack's own reader says that the stack would end there."""


class StackStops(Exception):
    """The stack ends with an error on this file; the message says which, in its words or in ours."""


class ConfigStops(StackStops):
    """The config class of transformers ends there already: so does whatever builds it."""


class NoSuchModel(Exception):
    """The stack has no such model, or gnomon has not traced its rule for it; the message says which."""
