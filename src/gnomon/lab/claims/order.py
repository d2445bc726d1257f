"""Claims 1 and 2: why attention is blind to order, and when it is not."""

from typing import final

import torch
from torch import Tensor

from gnomon.encodings import NoPE
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, rounding, told
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.experiments.context import Context
from gnomon.models import Decoder, Encoder, ModelOptions

ROWS, LENGTH, VOCABULARY = 2, 9, 50
SIZES = ModelOptions(vocabulary=VOCABULARY, dim=32, num_layers=2, num_heads=4)
ROUNDING, BROKEN = 1e-10, 1e-2  #: float64 rounds near 1e-15; a broken symmetry shows at the size of the outputs


def unevenness(model: torch.nn.Module, context: Context) -> float:
    """How far f(P x) is from P f(x) for a random order P, relative to the largest output."""
    draw = context.generator("tokens")
    ids = torch.randint(VOCABULARY, (ROWS, LENGTH), generator=draw)
    order = torch.randperm(LENGTH, generator=draw)
    with torch.no_grad():
        plain, reordered = model(ids), model(ids[:, order])
    return float((plain[:, order] - reordered).abs().max() / plain.abs().max())


@claim(1, "1")
@final
class BlindToOrder(Measured):
    """A random model without positions, with attention that looks both ways and with a causal mask."""

    statement = "Without positions attention cannot tell the order of its input."
    truth = (
        "True of attention that looks both ways: reordered inputs give reordered outputs, exactly. A causal mask "
        "breaks the symmetry, and causal models without positions learn order (Haviv et al. 2022; Kazemnejad 2023)."
    )
    gnomon = "`PE302`; `NoPE`; [proof](#why-attention-is-blind-to-order)"

    def measure(self, context: Context) -> dict[str, float]:
        with seeded(context):
            both, causal = (kind(SIZES, encoding=NoPE()).double().eval() for kind in (Encoder, Decoder))
        return {"both ways": unevenness(both, context), "causal": unevenness(causal, context)}

    def judge(self, numbers: Numbers) -> Said:
        both, causal = numbers["both ways"], numbers["causal"]
        seen = (
            f"f(Px) differs from P f(x) by {rounding(both.high)} of the largest output when attention looks both ways, "
            f"by {told(causal)} under a causal mask (random weights, 2 layers, float64)."
        )
        if both.high > ROUNDING:
            return Said("fails", seen)
        return Said("depends" if causal.low > BROKEN else "holds", seen)


@claim(2, "1")
@final
class SymmetricProducts(Measured):
    """The logits of one head against their transpose, with query and key weights of their own and shared."""

    statement = "The reason for this blindness is that the inner product q·k is symmetric."
    truth = (
        "QKᵀ is not symmetric, since queries and keys have weights of their own. Attention is blind to order because "
        "it treats every token alike (Yun et al. 2020; Lee et al. 2019)."
    )
    gnomon = "[proof](#why-attention-is-blind-to-order)"

    def measure(self, context: Context) -> dict[str, float]:
        draw = context.generator("head")
        x = torch.randn(LENGTH, 16, dtype=torch.float64, generator=draw)
        query, key, value = torch.randn(3, 16, 16, dtype=torch.float64, generator=draw)
        order = torch.randperm(LENGTH, generator=draw)
        logits = x @ query @ (x @ key).mT
        asymmetry = (logits - logits.mT).abs().max() / logits.abs().max()
        moved = _attend(x[order], query, key, value) - _attend(x, query, key, value)[order]
        return {"asymmetry of the logits": float(asymmetry), "order error": float(moved.abs().max())}

    def judge(self, numbers: Numbers) -> Said:
        asymmetry, moved = numbers["asymmetry of the logits"], numbers["order error"]
        seen = (
            f"QKᵀ differs from its transpose by {told(asymmetry)} of its largest entry, and reordering still only "
            f"reorders the outputs (error {rounding(moved.high)})."
        )
        return Said("fails" if asymmetry.low > BROKEN and moved.high < ROUNDING else "depends", seen)


def _attend(x: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """softmax(x W_Q W_Kᵀ xᵀ / √d) x W_V, written out."""
    scaled = x @ query @ (x @ key).mT * x.shape[-1] ** -0.5
    attended: Tensor = scaled.softmax(-1) @ (x @ value)
    return attended
