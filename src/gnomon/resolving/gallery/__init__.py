"""Configs of well-known models, as their files say them: what the matrix of stacks is drawn for.

`configs.json` holds the keys that bear on positions. Values come from the defaults of transformers' classes, from
public threads, or from memory (`known`); the lists of LongRoPE are made up, since only their handling is compared.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, final

from gnomon.resolving.given import Given


@final
@dataclass(frozen=True)
class Entry:
    """One config; `variant_of` names the entry that it was made from."""

    name: str
    title: str
    known: str
    config: dict[str, Any]
    variant_of: str = ""

    @property
    def given(self) -> Given:
        return Given(self.title, config=self.config)


@cache
def gallery() -> tuple[Entry, ...]:
    """All entries in their order.

    >>> gallery()[0].title
    'Llama-2-7B'
    """
    text = files(__package__).joinpath("configs.json").read_text(encoding="utf-8")
    return tuple(Entry(**fields) for fields in json.loads(text))
