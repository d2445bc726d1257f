"""PE303: the model takes position ids and does not heed them, or heeds a shift that it should not."""

from collections.abc import Iterator

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.expected import NO_POSITIONS, angles_follow_positions
from gnomon.doctor.evidence.found import found_encodings
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured

LENGTH, SHIFT = 14, 37
START = 6  # of the second row, where rows have ids of their own
RELATIVE = ("rotary", "alibi", "t5")
#: a bias may take its distances from the slots or the mask instead, and CoPE counts tokens
BY_MASK = ("alibi", "t5", "cope", "deberta", "shaw", "transformer_xl")


@check("PE303", "position-ids-ignored", severity="error", needs=(model,))
def position_ids_ignored(subject: Subject) -> Iterator[Finding | Measured]:
    """Position ids passed to the forward are ignored, or a uniform shift of them changes a relative encoding.

    Why: padding, packing and caches all steer a model through its position ids. A forward that counts 0, 1, 2 for
    itself is right in every plain test and wrong in those three, and so is one that takes the first row's ids for every
    row. A relative encoding (rotary, ALiBi) must not change
    when every id moves by the same amount; if it does, angles are computed in low precision or queries and keys are
    turned by different ids.

    Fix: use the ids that were passed for every table, angle and bias, queries and keys alike.

    Sources: transformers issues 35376 (ESM: always 0, 1, 2) and 26072; Megatron-LM and TransformerEngine threads on
    packed positions; Blaizzy/mlx-vlm#1883 (offsets of rows against the time axis); measured shift tolerances in
    gnomon/doctor/evidence/noise.py.
    """
    probe = model(subject)
    if probe.signature.positions is None:
        raise MissingEvidence("the forward takes no position ids (batch, sequence)")
    reach = probe.reach(3 * LENGTH + SHIFT)
    length = min(probe.length(LENGTH), reach // 3)
    if length < 4:
        raise MissingEvidence(f"the model takes {reach} positions; stretching them needs 12")
    kinds = _kinds(subject)
    content = probe.draw(2, length, seed=21)
    ids = torch.arange(length)[None].expand(2, -1).contiguous()
    plain, stretched = probe(content, positions=ids), probe(content, positions=ids * 3)
    effect = difference(plain, stretched)
    yield Measured("effect of stretching position ids by 3", effect, OUTPUT.value, f"must exceed; {OUTPUT.why}")
    if effect < OUTPUT.value and kinds is not None and kinds <= set(BY_MASK):
        raise MissingEvidence("position ids have no effect; what the model claims can do without them")
    if effect < OUTPUT.value and kinds is None and not found_encodings(subject):
        raise MissingEvidence("position ids have no effect, and no encoding of positions is in the model (PE302)")
    if effect < OUTPUT.value:
        yield Finding(
            f"the argument {probe.signature.positions}",
            "position ids 0, 3, 6, ... give the same output as 0, 1, 2, ...: they are ignored",
            "index the table, or form the angles, with the ids that are passed, not with arange",
            {"effect": effect},
        )
        return
    yield from _rows_of_their_own(probe, length, reach - length)
    shift = min(SHIFT, reach - length)
    moved = difference(plain, probe(content, positions=ids + shift))
    if kinds and kinds <= set(RELATIVE) and angles_follow_positions(subject, shift + length):
        limit = shift_tolerance(probe.tolerance, shift + length)
        yield Measured(f"effect of shifting every id by {shift}", moved, limit, "a relative encoding does not move")
        if moved > limit:
            yield Finding(
                f"the argument {probe.signature.positions}",
                f"shifting every position id by {shift} changes the output by {moved:.2g} of its size, "
                f"but {', '.join(sorted(kinds))} is relative",
                "give queries and keys the same ids, compute angles in float32, and drop any other position signal",
                {"effect": moved, "shift": shift},
            )


def _rows_of_their_own(probe: Model, length: int, start: int) -> Iterator[Finding | Measured]:
    """Rows with other ids, against each row alone with its ids: in whole inputs, and in one token as when decoding."""
    start, worst = min(START, start), 0.0
    for places in (length, 1) if start > 0 else ():
        content = probe.draw(2, places, seed=22)
        ids = torch.arange(places, device=content.device)[None] + torch.tensor([[0], [start]], device=content.device)
        try:
            together = probe(content, positions=ids)
        except MissingEvidence as failure:
            yield Finding(
                f"the argument {probe.signature.positions}",
                f"ids of shape {tuple(ids.shape)}, with another start for each row, fail: {failure}",
                "let each row have ids of its own: of shape (batch, sequence), with offsets of rows as (batch, 1)",
                {"places": places},
            )
            return
        alone = torch.cat([probe(content[i : i + 1], positions=ids[i : i + 1]) for i in (0, 1)])
        apart = difference(together, alone) if together.shape == alone.shape else float("inf")
        worst = max(worst, apart)
        if apart > probe.tolerance:
            yield Finding(
                f"the argument {probe.signature.positions}",
                f"rows with ids of their own (starting at 0 and {start}, {places} places) differ by {apart:.2g} of the "
                "output's size from each row alone with its ids: one row's ids serve all, or the axes are mixed up",
                "take the table's rows, or the angles, by the whole (batch, sequence) tensor of ids",
                {"difference": apart, "places": places},
            )
            return
    yield Measured("difference between rows with ids of their own, and alone", worst, probe.tolerance, OUTPUT.why)


def _kinds(subject: Subject) -> set[str] | None:
    """The kinds that are claimed; None when nothing says what the model has."""
    stated = attempt(lambda s: s.claims, subject)
    return None if stated is None else {claim.kind for claim in stated if claim.kind not in NO_POSITIONS}
