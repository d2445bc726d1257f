"""Claim 31: two streams."""

from typing import final

import torch
from torch import Tensor

from gnomon.attention import TwoStreamMasks
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, rounding, told
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.experiments.context import Context
from gnomon.models import XLNet, XLNetOptions

VOCABULARY, DIM, LENGTH = 30, 16, 6
PREFIX = (0, 1, 2)  #: what both predictions see
TARGETS = (3, 5)  #: two places that one prefix is asked about
ROUNDING, SEEN = 1e-10, 1e-3


def asked(model: XLNet, ids: Tensor, target: int) -> Tensor:
    """The query stream's prediction for one place from the prefix alone: (V,) logits."""
    hidden = torch.ones(1, LENGTH, LENGTH)
    hidden[..., list(PREFIX)] = 0
    mapping = torch.eye(LENGTH)[None, target : target + 1]
    return model.logits(model(ids, TwoStreamMasks(perm_mask=hidden, target_mapping=mapping)).hidden)[0, 0]


def without_query_stream(model: XLNet, ids: Tensor) -> Tensor:
    """What one stream says of any target: the last token of the prefix speaks, and does not know which is asked."""
    return model.logits(model(ids[:, : len(PREFIX)]).content)[0, -1]


@claim(31, "4.3")
@final
class TwoStreams(Measured):
    """A random XLNet asked for two places from one prefix, and asked again with another word at the target."""

    statement = (
        "XLNet keeps two vectors for each token; the query stream knows the place that it predicts and not the word "
        "there, and predictions come from it alone."
    )
    truth = (
        "True (Yang et al. 2019, appendix A.1); its relative positions are Transformer-XL's. With the same data it is "
        "1.7 points above BERT on GLUE (table 1 there), and no table isolates the two streams."
    )
    gnomon = "`TwoStreamAttention`, `gnomon.models.XLNet`, `TransformerXL`; `examples/xlnet_permutation_lm.py`"
    private = "2.8 points over BERT, which no table of the paper has"

    def measure(self, context: Context) -> dict[str, float]:
        with seeded(context), torch.no_grad():
            sizes = XLNetOptions(vocabulary=VOCABULARY, dim=DIM, num_layers=2, num_heads=2, feed_forward_dim=32)
            model = XLNet(sizes).double().eval()
            ids = torch.randint(VOCABULARY, (1, LENGTH), generator=context.generator("ids"))
            changed = ids.clone()
            changed[0, TARGETS[0]] = (ids[0, TARGETS[0]] + 1) % VOCABULARY
            first, second = (asked(model, ids, target) for target in TARGETS)
            one = without_query_stream(model, ids)
            return {
                "between two places": _apart(first, second),
                "between two places, one stream": _apart(one, without_query_stream(model, changed)),
                "after changing the word there": _apart(first, asked(model, changed, TARGETS[0])),
            }

    def judge(self, numbers: Numbers) -> Said:
        places, word = numbers["between two places"], numbers["after changing the word there"]
        one = numbers["between two places, one stream"]
        seen = (
            f"From one prefix the query stream says different things of two places (logits differ by {told(places)}) "
            f"and the same whatever word stands there (to {rounding(word.high)}); one stream alone gives both places "
            f"one prediction (to {rounding(one.high)})."
        )
        right = places.low > SEEN and max(word.high, one.high) < ROUNDING
        return Said("holds" if right else "fails", seen)


def _apart(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())
