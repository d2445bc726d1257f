"""What someone else's exception says, in one short line that a terminal can show."""

LONGEST = 300


def said(error: BaseException) -> str:
    """The type and the first line of the message, with control characters spelled out.

    >>> said(RuntimeError("no weights \\x1b here\\nsecond line"))
    'RuntimeError: no weights \\\\x1b here'
    """
    name = type(error).__name__
    first = _first_line(error)
    return f"{name}: {first}" if first else name


def _first_line(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  __str__ is the subject's code too
        return "its message cannot be read"
    first = next(iter(text.strip().splitlines()), "")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in first)
    return shown.rstrip(".") if len(shown) <= LONGEST else f"{shown[: LONGEST - 5]}[...]"


def shown(value: object, longest: int = 60) -> str:
    """A value of somebody else's as Python writes it, cut where it is too long for a sentence.

    >>> shown([1000000] * 9, 20)
    '[1000000, 1000000...'
    """
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."
