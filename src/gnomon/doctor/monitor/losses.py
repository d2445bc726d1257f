"""The loss of each token by its position, from the logits of the probe and the labels of the batch."""

import itertools
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.monitor.probing import Call

IGNORED = -100  # torch's ignore_index


def aligned_labels(call: Call, length: int) -> Tensor | None:
    """(B, S) labels where label i belongs to output i; those of the last outputs may be IGNORED.

    Labels that are the tokens themselves are shifted by one, as transformers does inside its models; labels that are
    the tokens shifted already, or others (as of masked tokens), are taken as they are. None without labels.
    """
    labels, content = call.labels, call.content
    if labels is None or labels.is_floating_point() or labels.shape[1] != length:
        return None
    if content is None or content.shape != labels.shape:
        return labels
    counted = labels != IGNORED
    if bool((labels == content)[counted].float().mean() > 0.9) and bool(counted.sum() > 0.5 * counted.numel()):
        return F.pad(labels[:, 1:], (0, 1), value=IGNORED)
    return labels


def losses(output: Any, call: Call) -> tuple[Tensor, Tensor] | None:
    """Sum of losses (S,) and number of counted labels (S,) for each position; None where there are no logits."""
    logits = output.get("logits") if isinstance(output, dict) else getattr(output, "logits", output)
    if isinstance(logits, tuple | list):
        logits = next((value for value in logits if isinstance(value, Tensor)), None)
    if not isinstance(logits, Tensor) or logits.ndim != 3:
        return None
    labels = aligned_labels(call, logits.shape[1])
    if labels is None or labels.shape[0] != logits.shape[0] or int(labels.max()) >= logits.shape[-1]:
        return None
    each = F.cross_entropy(logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="none")
    counted = labels != IGNORED
    return each.reshape(labels.shape).sum(0).cpu(), counted.sum(0).cpu()


class LossByPosition:
    """Means over buckets that double in width, of everything added so far."""

    def __init__(self) -> None:
        self.sums = torch.zeros(0, dtype=torch.float64)
        self.counts = torch.zeros(0, dtype=torch.int64)

    def add(self, sums: Tensor, counts: Tensor) -> None:
        more = max(0, len(sums) - len(self.sums))
        self.sums, self.counts = F.pad(self.sums, (0, more)), F.pad(self.counts, (0, more))
        self.sums[: len(sums)] += sums.double()
        self.counts[: len(counts)] += counts

    def decay(self, factor: float) -> None:
        """Forget: training changes the loss, so old measurements count less."""
        self.sums *= factor
        self.counts = (self.counts * factor).long()

    def buckets(self) -> dict[tuple[int, int], tuple[float, int]]:
        """(first, last) position -> (mean loss, tokens counted), for buckets in which anything was counted."""
        edges = [0, *(1 << i for i in range(2, 31) if 1 << i < len(self.sums)), len(self.sums)]
        found = {}
        for start, stop in itertools.pairwise(edges):
            count = int(self.counts[start:stop].sum())
            if count:
                found[start, stop - 1] = (float(self.sums[start:stop].sum()) / count, count)
        return found
