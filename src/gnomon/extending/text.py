"""An extension in words: what changes and why, and what each stack will make of it."""

import json
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from gnomon.extending.extended import Edit, Extended
from gnomon.extending.stacks import StackRow
from gnomon.report.plain import plain

WIDE = 118
NOTHING_YET = "nothing is written yet"
SHORT = 40  #: characters of an old value that stands in the line of its key


def text_of(extended: Extended, pending: str = NOTHING_YET) -> str:
    """The whole of it; `pending` are the first words where nothing is written."""
    return "\n".join((*_head(extended, pending), *_reasons(extended), *_written(extended), *_stacks(extended)))


def written_text(extended: Extended) -> str:
    """What was written, for a reader who has seen the reasons before."""
    return "\n".join((*_head(extended), *_written(extended)))


def _head(extended: Extended, pending: str = NOTHING_YET) -> Iterator[str]:
    done = f"wrote {extended.output}" if extended.output else pending
    to = extended.to
    size = f"{to:,} tokens" if isinstance(to, int) else f"{to[0]}x{to[1]} patches (height x width)"
    yield f"{done}: {extended.source} for {size}, by {extended.method}"


def _reasons(extended: Extended) -> Iterator[str]:
    yield from _section("what changes", extended.words)
    yield from _section("what it costs", extended.drawbacks)
    for name, edits in extended.edits.items():
        if edits:
            yield from ("", name)
            for edit in edits:
                yield from _edit(edit)


def _edit(edit: Edit) -> Iterator[str]:
    """In one line where it fits; else the new value whole below."""
    before, after = (_lines(value, WIDE) for value in (edit.before, edit.after))
    line = f"  {edit.key}: {before[0]} -> {after[0]}"
    if len(before) == len(after) == 1 and len(line) <= WIDE:
        yield line
        return
    if len(before[0]) <= SHORT and len(before) == 1:
        yield f"  {edit.key}: {before[0]} ->"
    else:
        yield f"  {edit.key}:"
        yield from (f"    {part}" for part in _lines(edit.before, WIDE - 4))
        yield "  ->"
    yield from (f"    {part}" for part in _lines(edit.after, WIDE - 4))


def _lines(value: Any, width: int) -> list[str]:
    """A value as JSON: in one line where it fits, else a key a line, and long lists wrapped; "none" for no key."""
    if value is None:
        return ["none"]
    whole = json.dumps(plain(value), ensure_ascii=False)
    if len(whole) <= width:
        return [whole]
    if not isinstance(value, Mapping):
        return wrap(whole, width, break_long_words=False)
    inner = []
    for key, held in value.items():
        first, *rest = _lines(held, width - len(key) - 8) if held is not None else ["null"]
        inner += [f"  {json.dumps(key)}: {first}", *(f"    {part}" for part in rest)]
        inner[-1] += ","
    return ["{", *inner[:-1], inner[-1].removesuffix(","), "}"]


def _written(extended: Extended) -> Iterator[str]:
    if extended.changed:
        yield f"tensors made anew: {', '.join(extended.changed)}"
    if extended.output:
        digest = f" (SHA-256 {extended.digest[:16]})" if extended.digest else ""
        yield f"tensors untouched: {extended.untouched:,}{digest}"
    if extended.left_behind:
        yield f"left behind: {', '.join(extended.left_behind)}"


def _stacks(extended: Extended) -> Iterator[str]:
    if extended.stacks and isinstance(extended.to, int):
        yield from ("", *table_of(extended.stacks, extended.to))


def table_of(stacks: tuple[StackRow, ...], to: int) -> Iterator[str]:
    """A row for the reference, and for each stack that reads the file otherwise, stops, or ends before `to` tokens; the
    others by their names in one line.
    """
    rows = [row for row in stacks if row.verdict not in ("equal", "absent") or _ends_early(row, to)]
    yield f"{'engine':<20} {'reads it':<10} {'cap':>10}"
    for row in rows:
        cap = "-" if row.cap is None else f"{row.cap:,}"
        yield f"{row.stack:<20} {row.verdict:<10} {cap:>10}"
        if row.verdict in ("differs", "stops") and row.says:
            yield from _wrapped(row.says, 4)
        if row.verdict == "differs" and row.mend:
            yield from _wrapped(f"to mend: {row.mend}", 4)
    for verdict, said in (("equal", "like the reference"), ("absent", "without such a model, or not traced")):
        if names := [row.stack for row in stacks if row.verdict == verdict and row not in rows]:
            yield from _wrapped(f"{said}: {', '.join(names)}", 0)


def _ends_early(row: StackRow, to: int) -> bool:
    return row.verdict == "equal" and row.cap is not None and row.cap < to


def _section(title: str, sentences: tuple[str, ...]) -> Iterator[str]:
    if sentences:
        yield from ("", title)
        for sentence in sentences:
            yield from _wrapped(f"- {sentence}", 2)


def _wrapped(text: str, indent: int) -> list[str]:
    hanging = indent + 2 if text.startswith("- ") else indent
    return wrap(text, WIDE, initial_indent=" " * indent, subsequent_indent=" " * hanging, break_long_words=False)
