"""What a check or a search would end with after the work is done, asked before it begins."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gnomon.adapters import load_subject
from gnomon.extending.checking.opened import stated_length
from gnomon.extending.checking.planned import Available, Wanted, planned
from gnomon.extending.checking.tokens import ids_of, tokens_of


def require_checkable(before: Any, text: str | Path, to: int | None, lengths: Sequence[int] | None = None) -> None:
    """Raises GnomonError where `check` of a model and its extension to `to` tokens would: for a tokenizer that cannot
    be read, and a text that cannot, or is too short for one row of each of `lengths` (None: for the shortest).

    The model itself is not loaded.
    """
    tokens = tokens_of(before)
    ids = ids_of(tokens, text)
    old = stated_length(load_subject(before, forward=False))
    wanted = Wanted(None if lengths is None else tuple(lengths))  # otherwise as `check` does unless it is told
    planned(wanted, Available("causal", old, to or old, len(ids), len(tokens.prefix)))


def require_searchable(source: Any, text: str | Path, length: int) -> None:
    """The same for a search on rows of `length` tokens."""
    from gnomon.extending.searching.running import needed

    tokens = tokens_of(source)
    ids_of(tokens, text, fewest=needed(tokens, 1, length))
