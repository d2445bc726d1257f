"""Cutting a cache back and moving its rows, by the methods that caches and models offer for it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.decoding import Session

KEEP = ("crop", "truncate", "keep_first", "resize", "rewind_to", "truncate_to")  #: given how many slots stay
REMOVE = ("trim", "rewind", "rollback", "remove_last", "drop_last")  #: given how many slots go
REORDER = ("reorder_cache", "reorder", "batch_select_indices", "index_select", "select_rows", "reorder_rows")
REORDER_ON_MODELS = ("_reorder_cache", "reorder_cache", "reorder_incremental_state")


def cut_back(session: Session, kept: int) -> str:
    """Keep `kept` slots of a session's memory; which method did it. An offset that the caller passes is moved back."""
    cache, gone = session.memory.cache, session.done - kept
    for name in (*KEEP, *REMOVE):
        method = getattr(cache, name, None)
        # transformers' crop takes minus the number of slots that go
        values = [kept, -gone] if name in KEEP else [gone]
        if callable(method) and (gone == 0 or _runs(method, values)):
            session.keep_first(kept)
            return name
    if cache is None and session.way.offset is not None:
        session.keep_first(kept)
        return session.way.offset
    raise MissingEvidence("the cache offers no method to cut it back")


def move_rows(session: Session, rows: Tensor) -> str:
    """Reorder the rows of a session's memory; which method did it."""
    cache, module = session.memory.cache, session.probe.module
    for name in REORDER:
        method = getattr(cache, name, None)
        if callable(method) and _runs(method, [rows]):
            session.move_rows(rows)
            return name
    for name in REORDER_ON_MODELS:
        method = getattr(module, name, None)
        if callable(method) and cache is not None:
            moved = _result(method, cache, rows)
            session.memory.cache = cache if moved is None else moved
            session.move_rows(rows)
            return name
    raise MissingEvidence("neither the cache nor the model offers a method to reorder its rows")


def _runs(method: Callable[..., Any], values: list[Any]) -> bool:
    """Whether the method takes one of the values; raises MissingEvidence when it is the right one and refuses them."""
    for value in values:
        try:
            with torch.no_grad():
                method(value)
        except (TypeError, NotImplementedError, AttributeError):
            return False
        except (Exception, SystemExit) as error:
            if value is values[-1]:
                raise MissingEvidence(f"the cache refuses to be edited: {said(error)}") from error
            continue
        return True
    return False


def _result(method: Callable[..., Any], cache: Any, rows: Tensor) -> Any:
    try:
        with torch.no_grad():
            return method(cache, rows)
    except (Exception, SystemExit) as error:
        raise MissingEvidence(f"the model refuses to reorder its cache: {said(error)}") from error
