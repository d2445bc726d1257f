"""Writes docs/engines.md: what each engine makes of well-known configs, from the resolver's own code."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path

from gnomon.report.resolved.cells import rows
from gnomon.report.resolved.document import Column, Resolution
from gnomon.resolving import resolve
from gnomon.resolving.gallery import gallery
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.stack import Stack, registry

PAGE = Path("docs/engines.md")
MADE = "<!-- Written by `make pages` from the code; change the stacks or the gallery instead. -->"
HEAD = """# Which engine does what with my config

One `config.json`, sixteen engines, and often as many models: each engine reads the rotary keys with a reader of its
own. This page says what comes out of well-known configs. For your own file: `gnomon resolve config.json`, or
`gnomon resolve --gallery --format html --output engines.html` for this table as a page with filters and the key behind
every number. [resolve.md](resolve.md) says how the comparison works.

**How sure is it?** transformers 5 is run: its own classes are compared with the resolver, frequency by frequency. All
other engines are *by reading*: their code was read at the commits named below and held against numbers worked out from
it; nothing of theirs was run here. An engine that has changed since, changes the answer.

## The table

Held against transformers 5 at the trained length, one token past it, and the longest length that the file states.
`=`: the same but for rounding. A percentage (from ten times on, a multiple): the largest error of a frequency, and from
how many tokens on some pair is more than 0.1 rad off. `×`: what the logits are multiplied by beside the right scale.
width, layout: other columns turn, or other pairs of them. stops: ends with an error. `·`: no such model there, or its
rule was not traced.
"""
CHOSEN = (
    "Rules that several engines share. A dash: the engine has no such rule, or one of its own in its reader (under "
    "source: the file as it stands). Every choice named here is read: a test puts another in its place and sees a "
    "layer change."
)


def page() -> str:
    """The text of the page."""
    found = _found()
    columns = list(found[0].columns)
    parts = [
        (MADE, "", HEAD),
        _matrix(found, columns),
        ("", "## How they choose", "", CHOSEN, ""),
        _choices(),
        (
            "",
            "## In words",
            "",
            "Per config: what differs, why, and what brings the engine to the model's own behaviour.",
            "",
        ),
        *(_words(each) for each in found),
        ("## Versions and sources", ""),
        *(_sources(stack) for _, stack in registry),
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


@cache
def _found() -> tuple[Resolution, ...]:
    return tuple(resolve(entry.given) for entry in gallery())


def _matrix(found: Sequence[Resolution], columns: Sequence[Column]) -> Iterator[str]:
    yield "| config | " + " | ".join(column.stack for column in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for row in rows(found, [column.name for column in columns]):
        cells = (f"{cell.mark}{'<br>' if cell.second else ''}{cell.second}" if cell else "" for cell in row.cells)
        yield f"| {row.found.target} | " + " | ".join(cells) + " |"


def _choices() -> Iterator[str]:
    names = [field.name for field in fields(Choices)]
    yield "| engine | " + " | ".join(name.replace("_", " ") for name in names) + " |"
    yield "|---|" + "---|" * len(names)
    for name, stack in registry:
        for version in stack.versions:
            values = (str(getattr(version.choices, field) or "-") for field in names)
            yield f"| {name} {version.name} | " + " | ".join(values) + " |"


def _words(found: Resolution) -> Iterator[str]:
    told = [column for column in found.columns if column.sentences]
    yield from (f"<details><summary>{found.target}</summary>", "")
    yield from (f"- {sentence}" for sentence in found.summary)
    yield from (f"- {_plain(' '.join(column.sentences))}" for column in told)
    yield from ("", "</details>", "")


def _sources(stack: type[Stack]) -> Iterator[str]:
    yield from (f"**{stack.title}** (`{stack.name}`, {stack.sure}): {stack.sources}", "")
    yield from (f"- `{version.name}`: {version.since}" for version in stack.versions)
    yield ""


def _plain(sentence: str) -> str:
    return sentence.replace("\n", " ").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
