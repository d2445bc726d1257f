"""What public functions ask of the kinds of objects that they are given."""

from numbers import Real

from gnomon.errors import GnomonError


def require(given: object, kind: type | tuple[type, ...], rule: str) -> None:
    """Raise GnomonError unless `given` is of this kind; `rule` says what it should be.

    >>> require(3, str, "A name is a str")
    Traceback (most recent call last):
        ...
    gnomon.errors.GnomonError: A name is a str, got int.
    """
    if not isinstance(given, kind):
        raise GnomonError(f"{rule}, got {said(given)}.")


def is_whole(given: object) -> bool:
    """Whether it is an int, and not a bool."""
    return isinstance(given, int) and not isinstance(given, bool)


def is_number(given: object) -> bool:
    """Whether it is a real number, and not a bool."""
    return isinstance(given, Real) and not isinstance(given, bool)


def said(given: object) -> str:
    """What an object is, in a word or two.

    >>> said(None), said("x"), said(int)
    ('None', 'str', 'the class int')
    """
    if isinstance(given, type):
        return f"the class {given.__name__}"
    return "None" if given is None else type(given).__name__
