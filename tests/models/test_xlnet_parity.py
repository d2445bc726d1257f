"""Equal to transformers' XLNet in float32, both streams and the memory, with its weights redrawn."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.attention import TwoStreamMasks, stream_attention
from gnomon.models import load_xlnet
from tests.helpers.xlnet import (
    BATCH,
    IDS,
    LENGTH,
    MEMORY,
    PADDING,
    Call,
    calls,
    mapping,
    memories,
    perm_mask,
    repaired,
    tiny,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "bi": {},
    "uni": {"attn_type": "uni"},
    "bi-clamped": {"clamp_len": 3},
    "uni-clamped": {"attn_type": "uni", "clamp_len": 4},
    "bi-data": {"bi_data": True},
    "uni-data": {"attn_type": "uni", "bi_data": True, "clamp_len": 6},
    "bi-reusing": {"mem_len": 6, "reuse_len": 4, "ff_activation": "gelu_new"},
    "uni-same-length": {"attn_type": "uni", "same_length": True, "ff_activation": "relu"},
}


def close(out: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("memory", [False, True], ids=["fresh", "with memory"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@torch.no_grad()
def test_both_streams_and_the_memory_are_those_of_transformers(
    options: dict[str, Any], memory: bool, padding: str
) -> None:
    """A query that sees nothing is compared elsewhere: theirs reads what is hidden from it."""
    theirs = repaired(tiny(**options))
    model, compared = load_xlnet(theirs), 0
    for call in calls(memory=memory, padding=padding):
        content, query, kept = call.theirs(theirs)
        out = model(IDS, call.masks, memory=call.memory)
        assert content.abs().max() > 1
        close(out.content, content)
        assert (query is None) == (out.query is None)
        if query is not None and out.query is not None and call.masks.target_mapping is not None:
            sees = call.views(model.options).query.visible[:, 0].any(-1)
            padded = ~call.masks.target_mapping.bool().any(-1)
            compared += int(sees.sum())
            close(out.query[sees | padded], query[sees | padded])
        assert len(kept) == len(out.memory)
        for mine, other in zip(out.memory, kept, strict=True):
            close(mine, other)
    assert compared >= 16


@pytest.mark.parametrize("name", ["bi", "bi-data", "uni-clamped"])
def test_blocks_of_three_queries_are_those_of_transformers_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that count up, down, and of scattered targets; the seven tokens above are one block."""
    monkeypatch.setattr(stream_attention, "BLOCK", 3)
    test_both_streams_and_the_memory_are_those_of_transformers(OPTIONS[name], memory=True, padding="left")


@pytest.mark.parametrize("kind", ["bi", "uni"])
@torch.no_grad()
def test_logits_are_those_of_the_language_model(kind: str) -> None:
    theirs = repaired(tiny(head=True, attn_type=kind))
    model = load_xlnet(theirs)
    masks = TwoStreamMasks(perm_mask=perm_mask(), target_mapping=mapping())
    expected = theirs(
        IDS,
        perm_mask=perm_mask().float(),
        target_mapping=mapping(),
        mems=[part.transpose(0, 1) for part in memories()],
        use_mems=True,
    ).logits
    assert theirs.lm_loss.bias.abs().max() > 0.2
    close(model.logits(model(IDS, masks, memory=memories()).hidden), expected)
    close(model.logits(model(IDS).hidden), theirs(IDS).logits)


@torch.no_grad()
def test_transformers_cannot_mask_several_rows_of_a_causal_model() -> None:
    """Why the comparisons above repair it; one row alone needs no repair and is the same."""
    theirs, hidden = tiny(attn_type="uni"), perm_mask()
    with pytest.raises(RuntimeError, match="broadcast shape"):
        theirs(IDS, perm_mask=hidden.float())
    out = load_xlnet(theirs)(IDS, TwoStreamMasks(perm_mask=hidden)).content
    for row in range(BATCH):
        close(out[row : row + 1], theirs(IDS[row : row + 1], perm_mask=hidden[row : row + 1].float())[0])


@torch.no_grad()
def test_input_mask_of_transformers_is_the_opposite_of_the_attention_mask() -> None:
    theirs = tiny()
    for real in (PADDING["left"], PADDING["right"]):
        assert real is not None
        expected = theirs(IDS, input_mask=1.0 - real.float()).last_hidden_state
        close(load_xlnet(theirs)(IDS, TwoStreamMasks(attention_mask=real)).content, expected)


@torch.no_grad()
def test_three_segments_one_after_another_are_those_of_transformers() -> None:
    theirs = tiny(mem_len=9)
    model, mems, memory = load_xlnet(theirs), None, None
    for shift in range(3):
        ids = IDS.roll(shift, dims=1)
        expected = theirs(ids, mems=mems, use_mems=True)
        out = model(ids, memory=memory)
        close(out.content, expected.last_hidden_state)
        mems, memory = expected.mems, out.memory
    assert memory is not None
    assert memory[0].shape[1] == 9


@torch.no_grad()
def test_a_query_that_sees_nothing_reads_its_own_answer_in_transformers_and_nothing_here() -> None:
    """All tokens are targets: the first of the order has no context. Their logits are all -1e30 there, whose softmax is
    the mean over the hidden tokens."""
    theirs = tiny()
    model = load_xlnet(theirs)
    hidden = torch.ones(BATCH, LENGTH, LENGTH).tril().transpose(1, 2)  # read from left to right, not itself
    masks = TwoStreamMasks(perm_mask=hidden, target_mapping=torch.eye(LENGTH).expand(BATCH, -1, -1))
    call = Call(masks)
    changed = IDS.clone()
    changed[:, 0] = (changed[:, 0] + 1) % 30
    first, other = (
        theirs(ids, perm_mask=hidden, target_mapping=masks.target_mapping).last_hidden_state[:, 0]
        for ids in (IDS, changed)
    )
    assert (first - other).abs().max() > 0.05
    mine, same = (model(ids, masks).query for ids in (IDS, changed))
    assert mine is not None
    assert same is not None
    assert torch.equal(mine[:, 0], same[:, 0])
    content, query, _ = call.theirs(theirs)
    close(mine[:, 1:], query[:, 1:])  # type: ignore[index]
    close(model(IDS, masks).content, content)


@torch.no_grad()
def test_memory_of_padding_can_be_hidden_and_is_seen_in_transformers() -> None:
    theirs = tiny()
    model = load_xlnet(theirs)
    full = torch.ones(BATCH, MEMORY + LENGTH, dtype=torch.int64)
    close(
        model(IDS, TwoStreamMasks(attention_mask=full), memory=memories()).content,
        Call(TwoStreamMasks(), memories()).theirs(theirs)[0],
    )
    full[:, :2] = 0
    short = [part[:, 2:] for part in memories()]
    hidden = model(IDS, TwoStreamMasks(attention_mask=full), memory=memories()).content
    close(hidden, model(IDS, memory=short).content)
