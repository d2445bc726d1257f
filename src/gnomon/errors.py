"""What gnomon raises for bad input: one sentence that says what was given, what is allowed, what to do."""


class GnomonError(ValueError):
    """Bad input. The message is one sentence that a user can act on; the command line exits with 2."""


class ShapeError(GnomonError):
    """Two shapes do not fit together; the message names both."""


class PositionError(GnomonError):
    """A position id is not usable: out of range, not an integer, or built from a bad mask."""


class UnknownNameError(GnomonError):
    """A name that nothing is registered under; the message lists the names that exist."""


class UnsupportedTargetError(GnomonError):
    """A target that gnomon cannot read: missing, broken, hostile, or of a kind it does not know."""
