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


def sequence_first(content: Tensor, before: Tensor, after: Tensor) -> bool:
    """Whether a model treats its first axis as the sequence, from outputs before and after a change.

    Content is (2, S, ...) and the last token of row 0 was changed. Outputs for each token: row 1 moves at that place,
    and row 0 does not move elsewhere. Outputs for each row: there are S of them, and only the last one moves.
    """
    if before.shape != after.shape or before.ndim < 2:
        return False
    moved = (before - after).abs() > 1e-5 * before.abs().max()
    if before.ndim == 2:
        rows = moved.any(dim=1)
        return len(rows) == content.shape[1] != content.shape[0] and bool(rows[-1]) and not bool(rows[:-1].any())
    places = moved.flatten(2).any(dim=2)
    return before.shape[0] == 2 and bool(places[1, -1]) and not bool(places[0, :-1].any())


def outputs_turned(content: Tensor, output: Tensor) -> bool:
    """Whether outputs are (S, B, ...) where content is (B, S, ...)."""
    batch, length = content.shape[:2]
    return batch != length and output.ndim >= 3 and output.shape[:2] == (length, batch)
