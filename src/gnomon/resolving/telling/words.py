"""What is said of a stack in plain words: who, which key, how much, from which length, and what to do."""

from collections.abc import Iterator

from gnomon.report.resolved.document import Mend, labelled
from gnomon.resolving.columns import Compared
from gnomon.resolving.telling.causes import Cause
from gnomon.resolving.telling.effects import effects_in_words, tokens
from gnomon.resolving.telling.why import why


def sentences(compared: Compared, cause: Cause | None, mend: Mend | None) -> tuple[str, ...]:
    """All that is said of one stack beside the reference; nothing where it computes the same and caps the same.

    A stack whose code was read and not run is said to be "by reading".
    """
    return tuple(_sentences(compared, cause, mend))


def _sentences(compared: Compared, cause: Cause | None, mend: Mend | None) -> Iterator[str]:
    reading = compared.reading
    who = named(compared)
    if reading.broken or reading.absent:
        yield f"{who}: {_ended(reading.broken or reading.absent)}"
        return
    if reading.refusal:
        yield f"{who} stops: {_ended(reading.refusal)}"
    elif compared.verdict == "differs":
        yield f"{who} {why(compared, cause)}: {'; '.join(effects_in_words(compared.differences))}."
    yield from _cap(who, compared)
    if mend is not None:
        yield _remedy(mend, name_of(compared))


def named(compared: Compared) -> str:
    """The stack, as in the tables, and how its rule is known."""
    name = name_of(compared)
    return name if compared.reading.sure == "run" else f"{name} (by reading)"


def name_of(compared: Compared) -> str:
    """As in the tables; one that stands alone, with its version where that is not the newest."""
    stack, version = compared.pair
    return compared.label or labelled(stack.name, version.name, newest=version is stack.versions[0], shown=())


def _remedy(mend: Mend, stack: str) -> str:
    if mend.possible:
        return f"To get the reference's behaviour from {stack}: {mend.text}"
    nearest = f" Nearest ({mend.left}): {mend.nearest}" if mend.nearest else ""
    return f"{stack} cannot be brought to the reference's behaviour by any flag or edit that gnomon knows.{nearest}"


def _cap(who: str, compared: Compared) -> Iterator[str]:
    """Where both derive a longest length and they differ."""
    mine, theirs = compared.reading.cap, compared.reference.cap
    if mine is not None and theirs is not None and mine != theirs:
        yield f"{who} takes {tokens(mine)} for the longest sequence, and the reference's is {tokens(theirs)}."


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
