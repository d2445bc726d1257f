"""What a model's arguments mean, found by trying: which mask value is a real token, and which axis is the sequence."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.thresholds import OUTPUT


@dataclass(frozen=True)
class MaskForm:
    """How a model wants its padding mask: the dtype, and the value that a real token has (torch's modules: 0)."""

    dtype: torch.dtype = torch.int64
    real: int = 1

    def of(self, mask: Tensor) -> Tensor:
        """A mask of 1 for real tokens and 0 for padding in this form."""
        real = mask.bool()
        return (real if self.real else ~real).to(self.dtype)


USUAL = "attention_mask"
#: bool first: a forward that negates its mask takes integers too, and gets them wrong
FORMS = tuple(MaskForm(dtype, real) for dtype in (torch.bool, torch.int64) for real in (1, 0))


def mask_form(name: str, plain: Tensor, run: Callable[[Tensor], Tensor], ones: Tensor) -> MaskForm | None:
    """The form whose mask of real tokens only changes nothing; None when the forward takes no mask (B, S).

    `attention_mask` means 1 for real tokens wherever it is used; other names are used both ways.
    """
    for form in (MaskForm(), *FORMS) if name == USUAL else FORMS:
        try:
            masked = run(form.of(ones))
        except Exception:  # noqa: BLE001 - whatever a forward says to a mask of another form
            continue
        if name == USUAL or (plain.shape == masked.shape and difference(plain, masked) < OUTPUT.value):
            return form
    return None


def sequence_first(before: Tensor, after: Tensor) -> bool:
    """Whether a model treats its first axis as the sequence, from outputs (2, S, ...) before and after a change.

    The last token of row 0 was changed: here row 1 moves at that place, and row 0 does not move elsewhere.
    """
    if before.ndim < 3 or before.shape != after.shape or before.shape[0] != 2:
        return False
    moved = (before - after).abs().flatten(2).amax(dim=2) > 1e-5 * before.abs().max()
    return bool(moved[1, -1]) and not bool(moved[0, :-1].any())
