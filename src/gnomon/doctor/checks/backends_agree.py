"""PE320: the model gives another result when its attention is computed in another way."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.backends import Backend, backends
from gnomon.doctor.evidence.biases import uses_in
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.scores import scores_in
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured

LENGTH, PADS = 13, 4
LEAK = 1e-5  # what looking ahead must exceed
UNEQUAL = 0.05  # two strengths of one bias, relative; rounding gives 1e-6


@check("PE320", "backends-agree", severity="error", needs=(model, backends))
def backends_agree(subject: Subject) -> Iterator[Finding | Measured]:
    """Two ways to compute the same attention give different outputs: a position bias or a mask is lost on one of them.

    Why: a model has several paths to one result: eager and fused attention, a path that returns attention weights,
    torch's fast path for inference. Masks and position biases are handed to each of them by other code. Where one path
    forgets the bias, adds it twice or loses the causal mask, training and serving, or two versions of a library, use
    different models, and no shape tells. Each path that runs here is compared with the model's own, with and without
    padding, at the places of real tokens.

    Fix: build bias and mask once, and hand the same sum to every path; test the paths against each other.

    Sources: huggingface/transformers#29067 and huggingface/transformers#29946 (Falcon with ALiBi),
    huggingface/transformers#41789 (ModernBERT without positions on its unpadded path).
    """
    probe = model(subject)
    yield from compared(probe, backends(subject))


def compared(probe: Model, others: tuple[Backend, ...]) -> Iterator[Finding | Measured]:
    """Each backend against the model's own path, without a mask and with one row padded on the right."""
    content, mask = _inputs(probe)
    own: list[tuple[Tensor | None, Tensor]] = [(None, probe(content))]
    if difference(own[0][1], probe(content)) > probe.tolerance:  # a masked autoencoder draws its mask
        raise MissingEvidence("the forward gives another result on every call (PE305)")
    if mask is not None:
        own.append((mask, probe(content, mask=mask)))
    for backend in others:
        worst = max(_apart(content, backend, padded, output) for padded, output in own)
        yield Measured(
            f"difference between {backend.name} and the model's own path", worst, probe.tolerance, OUTPUT.why
        )
        if worst > probe.tolerance:
            plain = difference(own[0][1], backend(content))
            cause, fix = _cause(probe, backend, content)
            only = " (with padding only)" if plain <= probe.tolerance else ""
            yield Finding(
                f"attention with {backend.name}",
                f"the output differs by {worst:.2g} of its size from the model's own path{only}{cause}",
                fix,
                {"difference": worst, "without padding": plain},
            )


def _cause(probe: Model, backend: Backend, content: Tensor) -> tuple[str, str]:
    """What the other path does wrong, where that can be told, and what to change."""
    if not probe.takes_images and _future(probe, content) < LEAK < _future(backend, content):
        return ": it looks at later tokens, which the model's own path does not", (
            "give this path the causal mask too: a flag such as is_causal reaches the fused kernel only"
        )
    own, other = _strength(probe, content), _strength(backend, content)
    if own and other and abs(other / own - 1) > UNEQUAL:
        return f": its position bias is {other / own:.3g} times as strong", (
            "add the bias once on every path: it is already inside the mask that one of them is given"
        )
    if None not in (own, other) and bool(own) != bool(other):
        return ": one of the two has no position bias", "hand the position bias to every attention path"
    return "", (
        "hand every attention path the same mask and the same position bias, once: look for a bias that is already in "
        "the mask, or is left out of it, on this path"
    )


def _future(run: Model | Backend, content: Tensor) -> float:
    """How much changing the last token changes the output before it."""
    changed = content.clone()
    changed[:, -1] = content[:, :1].flip(0)[:, 0]
    before, after = run(content), run(changed)
    return difference(before[:, :-1], after[:, :-1]) if before.ndim >= 3 else 0.0


def _strength(run: Model | Backend, content: Tensor) -> float | None:
    """The size of the position biases in one forward, 0 where there are none; None where operations cannot be seen."""
    if content.ndim > 3:
        return None
    try:
        uses = uses_in(scores_in(run, content, OUTPUT.value))
    except MissingEvidence:  # flex attention cannot be watched
        return None
    # A softmax ignores a constant, and the last query sees every key.
    rows = [use.values[:, -1] - use.values[:, -1, -1:] for use in uses]
    return float(sum(np.abs(row[np.isfinite(row)]).sum() for row in rows))


def _inputs(probe: Model) -> tuple[Tensor, Tensor | None]:
    length = 0 if probe.takes_images else probe.length(LENGTH)
    content = probe.draw(2, length, seed=71)
    if probe.signature.mask is None or length <= PADS + 1:
        return content, None
    mask = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device)
    mask[1, -PADS:] = 0
    return content, mask


def _apart(content: Tensor, backend: Backend, mask: Tensor | None, own: Tensor) -> float:
    """How far the backend's output is from `own`, where tokens are real."""
    found = backend(content, mask=mask)
    if found.shape != own.shape:
        return float("inf")
    if mask is None or own.shape[:2] != mask.shape:
        return difference(own, found)
    real = mask.bool()
    return difference(own[real], found[real])
