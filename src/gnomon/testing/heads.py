"""The clause about parts of the heads: what ranks of tensor parallelism hold is what the whole model has."""

import json
from dataclasses import replace

import torch
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.heads import UncutError
from gnomon.testing.trial import ClauseError, Inputs, Trial, require_same

DISTANCES = torch.arange(-9, 10)


def for_heads(trial: Trial) -> None:
    """`for_heads` gives for some heads what the whole gives for them, also of a part; it is the encoding itself, or it
    has parameters of its own, as trainable as before, options that build it, and refuses heads that are not there. An
    encoding that says it cannot be cut keeps the clause.
    """
    encoding, heads = trial.encoding, trial.num_heads
    cut = (heads + 2) // 3
    try:
        parts = {(0, cut): encoding.for_heads(0, cut)}
    except UncutError:
        return
    if cut < heads:
        rest = parts[cut, heads - cut] = encoding.for_heads(cut, heads - cut)
        parts[heads - 1, 1] = rest.for_heads(heads - cut - 1, 1)
    inputs = trial.inputs()
    want = _results(trial, inputs, encoding)
    for (first, count), part in parts.items():
        here = slice(first, first + count)
        own = {name: value if name == "embed" else value[:, here] for name, value in want.items()}
        part_inputs = replace(inputs, q=inputs.q[:, here], k=inputs.k[:, here])
        require_same(_results(trial, part_inputs, part), own, f"{count} of {heads} heads from head {first} on")
        if part is not encoding:
            _require_separate(encoding, part)
            _require_rebuilt(trial, part_inputs, part)
    if parts[0, cut] is not encoding:
        _require_refused(encoding, heads)


def _results(trial: Trial, inputs: Inputs, encoding: PositionEncoding) -> dict[str, Tensor]:
    """The results of all hooks, those by distance among them, each with heads in dimension 1 (`embed` has none)."""
    more = {
        "by_distance": encoding.by_distance(DISTANCES),
        "content_by_distance": encoding.content_by_distance(inputs.q, DISTANCES),
        "content_by_key": encoding.content_by_key(inputs.k),
    }
    found = {name: value if name != "by_distance" else value[None] for name, value in more.items() if value is not None}
    return trial.run(inputs, encoding) | found


def _require_separate(encoding: PositionEncoding, part: PositionEncoding) -> None:
    whole = dict(encoding.named_parameters())
    memory = {parameter.untyped_storage().data_ptr() for parameter in whole.values()}
    for name, parameter in part.named_parameters():
        if parameter.untyped_storage().data_ptr() in memory:
            raise ClauseError(f"the parameter {name} of a part lies in the memory of the whole.")
        if name not in whole or parameter.requires_grad != whole[name].requires_grad:
            raise ClauseError(f"the parameter {name} of a part is not as trainable as that of the whole.")


def _require_rebuilt(trial: Trial, inputs: Inputs, part: PositionEncoding) -> None:
    rebuilt = type(part)(**json.loads(json.dumps(part.options, allow_nan=False)))
    rebuilt.load_state_dict(part.state_dict())
    require_same(trial.run(inputs, rebuilt), trial.run(inputs, part), "a part rebuilt from its options", 0.0)


def _require_refused(encoding: PositionEncoding, heads: int) -> None:
    for first, count in ((0, heads + 1), (heads, 1), (-1, 1), (0, 0)):
        try:
            encoding.for_heads(first, count)
        except ValueError:
            continue
        raise ClauseError(f"{count} heads from head {first} on are taken of {heads}.")
