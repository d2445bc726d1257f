"""What XLNet's query stream is for: Yang et al. 2019, arXiv:1906.08237, section 2.3 and appendix A.1.

A network that predicts from what came before in the order, and is not told where the next token stands, gives one and
the same prediction for two targets with the same tokens before them. The query stream tells it.
"""

from dataclasses import dataclass, replace
from typing import Literal, final, get_args

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import one_hot

from gnomon.attention import TwoStreamMasks
from gnomon.errors import GnomonError
from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.models import XLNet, XLNetOptions
from gnomon.report.lab.results import MeasureInfo, Series

#: What a query is told: the place of its target, or nothing, so that all queries stand at position 0.
Told = Literal["place", "nothing"]
VOCABULARY, DIM, LAYERS, HEADS = 13, 64, 2, 4
SAME_PREFIX = MeasureInfo("same_prefix", "distance of two predictions from one prefix")


@registry.register("same_prefix")
@final
@dataclass(frozen=True)
class SamePrefix(Experiment):
    """An untrained XLNet is asked for two tokens of a row, each from all the others: how far apart are the predictions?

    The number is the total variation distance, half the sum of the differences of the probabilities, on average over
    `rows` rows of `length` random tokens: 0 where they are the same, 1 where they have nothing in common.
    """

    infos = (SAME_PREFIX,)
    told: Told
    rows: int = 64
    length: int = 12

    def __post_init__(self) -> None:
        require_told(self.told)
        if self.rows < 1 or self.length < 3:
            raise GnomonError(f"Two targets and a prefix need a row of 3 tokens, got {self.rows} of {self.length}.")

    def run(self, context: Context) -> Outcome:
        model, generator = drawn_model(context), context.generator("same prefix")
        return Outcome({"": {"same_prefix": same_prefix(model, self.told, (self.rows, self.length), generator)}})


def same_prefix(model: XLNet, told: Told, shape: tuple[int, int], generator: torch.Generator) -> Series:
    """How far apart the predictions for two targets of each row are, each of them made from all other tokens."""
    ids = torch.randint(1, VOCABULARY, shape, generator=generator)
    places = torch.rand(shape, generator=generator).argsort(-1)[:, :2]
    mapping = one_hot(places, shape[1])
    hidden = mapping.sum(1, keepdim=True).expand(-1, shape[1], -1)
    with torch.no_grad():
        one, other = predicted(model, ids, TwoStreamMasks(hidden, mapping), told).softmax(-1).unbind(1)
    return Series.number(float((one - other).abs().sum(-1).mean()) / 2)


def predicted(model: XLNet, ids: Int64[Tensor, "B S"], masks: TwoStreamMasks, told: Told) -> Float[Tensor, "B P V"]:
    """The logits for each target of the masks; all else is equal whatever the queries are told."""
    views = masks.views(len(ids), torch.arange(ids.shape[1])[None])
    if told == "nothing":
        views = replace(views, query=replace(views.query, positions=torch.zeros_like(views.query.positions)))
    content = model.embedding(ids)
    query = model.mask_vector.expand(len(ids), views.query.visible.shape[2], -1)
    for layer in model.layers:
        content, query = layer(content, query, views)
    return model.logits(query)


def drawn_model(context: Context) -> XLNet:
    """A small XLNet with the weights that the seed gives it. torch's own generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(context.generator("weights").initial_seed())
        return XLNet(XLNetOptions(VOCABULARY, DIM, LAYERS, HEADS, feed_forward_dim=2 * DIM))


def require_told(told: str) -> None:
    if told not in get_args(Told):
        raise GnomonError(f"A query is told {' or '.join(get_args(Told))}, got {told!r}.")
