"""What a model says of each place of a row, in pieces: logits over a vocabulary are far larger than all else.

The body of a transformers model runs once over the whole row, as it does in use: rules that look at the length of a
row see it. Its head then runs over a few places at a time, through the model's own forward, whose body hands out the
hidden states that are there; caps and scales of logits are so the model's own.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from gnomon.adapters.example import forward_signature
from gnomon.doctor.evidence.signature import main_output

CELLS = 1 << 22  #: logits held at once: 32 MiB in float64


@torch.no_grad()
def pieces(
    module: nn.Module, ids: Int64[Tensor, " S"], start: int = 0, *, cells: int = CELLS
) -> Iterator[tuple[int, Float[Tensor, "N V"]]]:
    """The logits of the places from `start` on: for each piece its first place, and N rows of logits.

    >>> model = nn.Sequential(nn.Embedding(5, 2), nn.Linear(2, 5))
    >>> [(first, tuple(piece.shape)) for first, piece in pieces(model, torch.arange(4), 1, cells=10)]
    [(1, (3, 5))]
    """
    body = body_of(module, ids[:1])
    if body is None:
        yield start, main_output(module(ids[None]))[0, start:]
        return
    states, size, first = body(ids[None], **_without_cache(body)), 1, start
    while first < len(ids):
        with _standing_in(body, _cut(states, first, size)):
            logits = main_output(module(ids[None, first : first + size], **_without_cache(module)))[0]
        yield first, logits
        first, size = first + size, max(1, cells // logits.shape[-1])


def body_of(module: nn.Module, ids: Int64[Tensor, " S"]) -> nn.Module | None:
    """The part below the head that a transformers model's forward calls once; None for models of other makes.

    `ids` are any that the model takes. A body whose states stand in for it must be what the forward asks.
    """
    head, decoder = (getattr(module, name, None) for name in ("get_output_embeddings", "get_decoder"))
    if not callable(head) or head() is None:
        return None
    for body in (getattr(module, "base_model", None), decoder() if callable(decoder) else None):
        if isinstance(body, nn.Module) and body is not module and hasattr(body(ids[None]), "last_hidden_state"):
            with _standing_in(body, body(ids[None])) as asked:
                module(ids[None])
            if len(asked) == 1:
                return body
    return None


@torch.no_grad()
def hidden_states(module: nn.Module, ids: Int64[Tensor, "B S"]) -> Float[Tensor, "B S W"]:
    """What a model without a head gives for each place."""
    return main_output(module(ids))


@contextmanager
def _standing_in(body: nn.Module, states: Any) -> Iterator[list[None]]:
    """The body gives these states, whatever it is asked; the list has an entry for each time it was."""
    before, asked = body.__dict__.get("forward"), list[None]()

    def forward(*_: Any, **__: Any) -> Any:
        asked.append(None)
        return states

    body.forward = forward
    try:
        yield asked
    finally:
        if before is None:
            del body.forward
        else:
            body.forward = before


def _cut(states: Any, first: int, size: int) -> Any:
    """The output of a body with the hidden states of some places alone."""
    cut = copy.copy(states)
    cut.last_hidden_state = states.last_hidden_state[:, first : first + size]
    return cut


def _without_cache(module: nn.Module) -> dict[str, Any]:
    parameters = forward_signature(module).parameters
    return {"use_cache": False} if "use_cache" in parameters else {}
