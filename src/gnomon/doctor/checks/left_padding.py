"""PE401: padding on the left changes the result of the tokens after it."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gnomon import positions as position_ids
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.evidence.padding import LENGTH, PADS, pad_token, padded_between, padded_on_the_left, padded_unequally
from gnomon.doctor.evidence.signature import DECODER
from gnomon.doctor.evidence.trace import require_attention
from gnomon.report.document import Finding, Measured, Severity


@check("PE401", "left-padding", severity="error", needs=(model, causality))
def left_padding(subject: Subject) -> Iterator[Finding | Measured]:
    """A row padded on the left gives other outputs than the same row without padding.

    Why: generation in batches pads on the left, so that every row ends in a real token. Ids counted over slots give the
    first real token position 4 instead of 0; absolute encodings then read the wrong rows. Relative encodings survive a
    uniform shift, but not a mask that is dropped.

    Fix: derive ids from the mask (gnomon.positions.from_mask: the number of real tokens before each) and pass them
    with the mask; the model must heed both. One vector of positions cannot serve rows that are padded differently.

    Sources: transformers issue 21080 and pull request 29583 (GPT-2 in a bare forward still counts padding), trl issue
    469, unslothai/unsloth#3699 (one vector for all rows), huggingface/peft#54 (a learned prompt before padding).
    """
    probe = model(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways; such models are padded on the right (PE402)")
    require_attention(subject)
    pad = pad_token(subject)
    limit = shift_tolerance(probe.tolerance, probe.length(LENGTH) + PADS)
    given = None
    if probe.signature.positions is not None:
        effects = _effects(probe, pad, given=True)
        if not _has_convolutions(probe):  # which see the gap, as a state that is carried over it does
            effects["padding after a prompt"] = _between(probe, pad)
        for name, effect in effects.items():
            yield Measured(f"{name}, ids from the mask passed", effect, limit, "relative to the outputs")
        name, given = max(effects.items(), key=lambda pair: pair[1])
        if given > limit:
            yield Finding(
                "the forward",
                f"with mask and position ids passed, left padding still changes outputs by {given:.2g} of their size "
                f"({name})",
                "use the position ids that are passed, and mask out padded keys on every attention path",
                {"effect": given, "pads": PADS},
            )
            return
    effects = _effects(probe, pad, given=False)
    for name, effect in effects.items():
        yield Measured(f"{name}, only the mask passed", effect, limit, "relative to the outputs")
    name, bare = max(effects.items(), key=lambda pair: pair[1])
    if bare > limit:
        yield Finding(
            "the forward",
            f"with only the mask passed, left padding changes outputs by {bare:.2g} of their size: padding is counted "
            f"({name})",
            "derive position ids from the mask, for each row"
            + ("; until then pass position_ids yourself" if given is not None else ""),
            {"effect": bare, "pads": PADS},
            severity=_severity(probe, given),
        )


def _effects(probe: Model, pad: int | None, *, given: bool) -> dict[str, float]:
    """How far padded rows differ from the same alone: all of them padded, or the first only."""
    alone, padded, mask = padded_on_the_left(probe, pad)
    mixed, some = padded_unequally(probe, pad)
    return {
        "every row padded": difference(_run(probe, alone, None, given), _run(probe, padded, mask, given)[:, PADS:]),
        "one row padded": max(
            difference(_run(probe, mixed[:1, PADS:], None, given), _run(probe, mixed, some, given)[:1, PADS:]),
            difference(_run(probe, mixed[1:], None, given), _run(probe, mixed, some, given)[1:]),
        ),
    }


def _has_convolutions(probe: Model) -> bool:
    return any(isinstance(part, nn.Conv1d) for part in probe.module.modules())


def _between(probe: Model, pad: int | None) -> float:
    alone, padded, mask = padded_between(probe, pad)
    return difference(_run(probe, alone, None, True), _run(probe, padded, mask, True)[:, mask[0].bool()])


def _run(probe: Model, content: Tensor, mask: Tensor | None, given: bool) -> Tensor:
    """One forward, with position ids from the mask if they are to be given."""
    if not given:
        return probe(content, mask=mask)
    whole = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device) if mask is None else mask
    return probe(content, mask=mask, positions=position_ids.from_mask(whole))


def _severity(probe: Model, given: float | None) -> Severity:
    """The decoder of an encoder-decoder is padded on the right as a rule, and may count its slots."""
    if given is None and probe.signature.content in DECODER:
        return "note"
    return "error" if given is None else "warning"
