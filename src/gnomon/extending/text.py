"""An extension in words: what changes and why, and what each stack will make of it."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from gnomon.extending.extended import Extended
from gnomon.extending.stacks import StackRow

WIDE = 118
SHOWN = 60  #: characters of a value


def text_of(extended: Extended) -> str:
    """The whole of it; lists of numbers are cut."""
    return "\n".join((*_head(extended), *_reasons(extended), *_written(extended), *_stacks(extended)))


def written_text(extended: Extended) -> str:
    """What was written, for a reader who has seen the reasons before."""
    return "\n".join((*_head(extended), *_written(extended)))


def _head(extended: Extended) -> Iterator[str]:
    done = f"wrote {extended.output}" if extended.output else "nothing is written yet"
    to = extended.to
    size = f"{to:,} tokens" if isinstance(to, int) else f"{to[0]} x {to[1]} patches"
    yield f"{done}: {extended.source} for {size}, by {extended.method}"


def _reasons(extended: Extended) -> Iterator[str]:
    yield from _section("what changes", extended.words)
    yield from _section("what it costs", extended.drawbacks)
    for name, edits in extended.edits.items():
        if edits:
            yield from ("", name)
            yield from (f"  {edit.key}: {_shown(edit.before)} -> {_shown(edit.after)}" for edit in edits)


def _written(extended: Extended) -> Iterator[str]:
    if extended.changed:
        yield f"tensors made anew: {', '.join(extended.changed)}"
    if extended.output:
        digest = f" (SHA-256 {extended.digest[:16]})" if extended.digest else ""
        yield f"tensors untouched: {extended.untouched:,}{digest}"
    if extended.left_behind:
        yield f"left behind: {', '.join(extended.left_behind)}"


def _stacks(extended: Extended) -> Iterator[str]:
    if extended.stacks:
        yield from ("", *table_of(extended.stacks))


def table_of(stacks: tuple[StackRow, ...]) -> Iterator[str]:
    """One line for each stack, and what mends it where something does."""
    yield f"{'stack':<20} {'reads it':<10} {'cap':>10}"
    for row in stacks:
        cap = "-" if row.cap is None else f"{row.cap:,}"
        yield f"{row.stack:<20} {row.verdict:<10} {cap:>10}"
        if row.verdict in ("differs", "stops") and row.says:
            yield from _wrapped(row.says, 4)
        if row.verdict == "differs" and row.mend:
            yield from _wrapped(f"to mend: {row.mend}", 4)


def _section(title: str, sentences: tuple[str, ...]) -> Iterator[str]:
    if sentences:
        yield from ("", title)
        for sentence in sentences:
            yield from _wrapped(f"- {sentence}", 2)


def _wrapped(text: str, indent: int) -> list[str]:
    hanging = indent + 2 if text.startswith("- ") else indent
    return wrap(text, WIDE, initial_indent=" " * indent, subsequent_indent=" " * hanging, break_long_words=False)


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
