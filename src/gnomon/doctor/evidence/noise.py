"""How large a difference is: relative to the outputs, against the noise floor measured in the same run."""

from torch import Tensor


def difference(a: Tensor, b: Tensor) -> float:
    """Largest absolute difference over the largest absolute value (at least 1e-6): 0 for equal outputs."""
    scale = max(float(a.abs().max()), float(b.abs().max()), 1e-6)
    return float((a.double() - b.double()).abs().max()) / scale


def shift_tolerance(tolerance: float, furthest: int) -> float:
    """What a shift of positions may change: the model's own tolerance, and what float32 angles lose far out.

    Measured on a healthy float32 Llama: 4e-6 at 16, 2e-5 at 256, 1.5e-4 at 4,096, 4e-3 at 65,536 (relative to logits of
    size 3).
    """
    return tolerance + 1e-6 * furthest
