"""The functions that docs/parallel.md shows, run by several processes against the whole."""

import copy
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.functional import cross_entropy

from gnomon import positions as position_ids
from gnomon.attention import Attention
from gnomon.models import Decoder, ModelOptions
from gnomon.parallel import ContextParallel, context_parallel
from gnomon.positions.sharding import Scheme
from tests.helpers.process_sizes import DIM, HEADS, LENGTH, drawn, error, gradients, positions_for, random, worst

PAGE = Path(__file__).parents[2] / "docs" / "parallel.md"
#: One token more than what is shared, as the last one is only a target.
DOCUMENTS = torch.tensor([[0] * 3 + [1] * 10 + [2] * 4, [3] * 5 + [4] * 9 + [5] * 3])


def checks() -> dict[str, Callable[[], dict[str, Any]]]:
    return {
        **{f"docs-step-{scheme}": partial(step, scheme) for scheme in ("contiguous", "zigzag", "round_robin")},
        **{
            f"docs-dtensor-{name}": partial(by_heads, name)
            for name in ("alibi", "t5", "transformer_xl", "kerple", "rotary")
        },
    }


def shown(name: str) -> Any:
    """The function of this name on the page."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    [block] = [block for block in blocks if f"def {name}(" in block]
    scope: dict[str, Any] = {}
    exec(block, scope)
    return scope[name]


def step(scheme: Scheme) -> dict[str, Any]:
    """A training step on packed rows: the parts of the loss add up to the loss, and gradients are the whole's."""
    torch.manual_seed(5)
    options = ModelOptions(vocabulary=31, dim=DIM, num_layers=2, num_heads=HEADS, num_key_heads=4)
    whole, parallel = Decoder(options, encoding=drawn("rotary")), ContextParallel(scheme)
    part = context_parallel(copy.deepcopy(whole), parallel)
    tokens = torch.arange(2 * (LENGTH + 1)).reshape(2, -1) * 7 % 31
    own = shown("step")(part, parallel, tokens, DOCUMENTS)
    documents = DOCUMENTS[:, :-1]
    logits = whole(tokens[:, :-1], documents=documents, positions=position_ids.from_documents(documents))
    loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    found = {name.replace(".attention.attention.", ".attention."): g for name, g in gradients(part).items()}
    total = own.detach().clone()
    dist.all_reduce(total)
    return {"loss": error(total, loss), "gradients": worst(found, gradients(whole))}


def by_heads(name: str) -> dict[str, Any]:
    """`parallelize_module` cuts the projections, `for_heads` the encoding."""
    torch.manual_seed(4)
    key_heads = 4 if name in ("rotary", "alibi") else HEADS
    whole = Attention(DIM, num_heads=HEADS, num_key_heads=key_heads, encoding=drawn(name), causal=True)
    part = shown("cut")(copy.deepcopy(whole), init_device_mesh("cpu", (2,)))
    x, same = random(2, LENGTH, DIM).requires_grad_(), random(2, LENGTH, DIM).requires_grad_()
    positions, weights = positions_for(whole.encoding), random(2, LENGTH, DIM, seed=1)
    want, got = whole(x, positions), part(same, positions)
    (want * weights).sum().backward()
    (got * weights).sum().backward()
    assert x.grad is not None
    assert same.grad is not None
    return {"output": error(got, want), "gradient of x": error(same.grad, x.grad)}
