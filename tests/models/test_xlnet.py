"""XLNet: why it has two streams, its memory, and loading of weights."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from gnomon.attention import TwoStreamMasks, permutation_mask
from gnomon.errors import GnomonError, ShapeError
from gnomon.models import XLNet, XLNetOptions, load_xlnet, load_xlnet_state
from tests.helpers.xlnet import BATCH, DIM, HEADS, IDS, LENGTH, VOCABULARY, mapping, memories, ours, perm_mask, tiny


@torch.no_grad()
def test_without_the_query_stream_two_targets_with_one_prefix_get_one_prediction() -> None:
    """Section 2.3. Tokens 0 and 1 are known; the next of the order is token 2 in one order and token 6 in another.

    Predicting from the content of what is known, as a usual language model does, cannot tell the two apart: the
    vectors are the same, wherever the next token stands. The query stream stands at the target.
    """
    model, ids = ours(), IDS[:1]
    targets = torch.arange(LENGTH)[None] >= 2
    answers = {}
    for target, order in ((2, [0, 1, 2, 3, 4, 5, 6]), (6, [0, 1, 3, 4, 5, 6, 2])):
        hidden = permutation_mask(targets, order=torch.tensor([order]))
        at_target = torch.nn.functional.one_hot(torch.tensor([[target]]), LENGTH)
        seen = model(ids, TwoStreamMasks(hidden, at_target))
        assert seen.query is not None
        assert torch.equal(hidden[0, target], targets[0])  # both see tokens 0 and 1 alone
        answers[target] = (model.logits(seen.content[:, :2]), model.logits(seen.query))
    assert torch.equal(answers[2][0], answers[6][0])
    assert (answers[2][1] - answers[6][1]).abs().max() > 0.02


@torch.no_grad()
def test_a_target_does_not_know_its_own_word_nor_later_ones() -> None:
    """The content stream does know its own: it cannot be used to predict."""
    model = ours()
    hidden, mapped = perm_mask(), mapping()
    before = model(IDS, TwoStreamMasks(hidden, mapped))
    assert before.query is not None
    for token in range(LENGTH):
        changed = IDS.clone()
        changed[:, token] = (changed[:, token] + 1) % VOCABULARY
        after = model(changed, TwoStreamMasks(hidden, mapped))
        assert after.query is not None
        moved = (after.query - before.query).abs().amax(-1) > 1e-6
        for row in range(BATCH):
            for prediction, place in enumerate(mapped[row].argmax(-1).tolist()):
                if mapped[row, prediction].any():
                    assert bool(moved[row, prediction]) == (not bool(hidden[row, place, token]))
        assert bool(((after.content - before.content).abs().amax(-1) > 1e-6)[:, token].all())


@torch.no_grad()
@pytest.mark.parametrize("cut", [1, 4, 6])
def test_segment_by_segment_is_one_longer_pass_when_tokens_do_not_look_ahead(cut: int) -> None:
    model = ours(causal=True)
    whole = model(IDS)
    first = model(IDS[:, :cut])
    second = model(IDS[:, cut:], memory=first.memory)
    torch.testing.assert_close(torch.cat((first.content, second.content), 1), whole.content, atol=1e-5, rtol=1e-5)
    for parts, all_at_once in zip(second.memory, whole.memory, strict=True):
        torch.testing.assert_close(parts, all_at_once, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_segment_by_segment_with_padding_on_the_left_is_one_longer_pass() -> None:
    """The mask over memory and tokens keeps the padding of the first segment hidden in the second."""
    model, real = ours(causal=True), torch.ones(BATCH, LENGTH, dtype=torch.int64)
    real[0, :2] = 0
    whole = model(IDS, TwoStreamMasks(attention_mask=real)).content
    first = model(IDS[:, :4], TwoStreamMasks(attention_mask=real[:, :4]))
    second = model(IDS[:, 4:], TwoStreamMasks(attention_mask=real), memory=first.memory).content
    torch.testing.assert_close(second, whole[:, 4:], atol=1e-5, rtol=1e-5)
    seen = model(IDS[:, 4:], memory=first.memory).content
    assert (seen[0] - whole[0, 4:]).abs().max() > 1e-2


def test_no_gradient_goes_through_memory() -> None:
    model = ours()
    first = model(IDS)
    assert not any(part.requires_grad for part in first.memory)
    given = [part.requires_grad_() for part in memories()]
    out = model(IDS, TwoStreamMasks(perm_mask(), mapping()), memory=given)
    model.logits(out.hidden).sum().backward()
    assert all(part.grad is None for part in given)
    assert not any(part.requires_grad for part in out.memory)


@torch.no_grad()
def test_memory_keeps_what_is_reused_and_no_more_than_its_length() -> None:
    model = ours(memory_length=6, reuse_length=4)
    first = model(IDS)
    assert [tuple(part.shape) for part in first.memory] == [(BATCH, 4, DIM)] * 2
    torch.testing.assert_close(first.memory[0], model.embedding(IDS)[:, :4])
    second = model(IDS.roll(1, dims=1), memory=first.memory)
    expected = torch.cat((first.memory[0][:, 2:], model.embedding(IDS.roll(1, dims=1))[:, :4]), dim=1)
    torch.testing.assert_close(second.memory[0], expected)


@torch.no_grad()
def test_memory_segments_are_0_unless_they_are_given() -> None:
    model, given = ours(), memories()
    ids = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    before = torch.zeros(BATCH, given[0].shape[1], dtype=torch.int64)
    short = model(IDS, TwoStreamMasks(segments=ids), memory=given).content
    long = model(IDS, TwoStreamMasks(segments=torch.cat((before, ids), 1)), memory=given).content
    same = model(IDS, TwoStreamMasks(segments=torch.cat((before + 1, ids), 1)), memory=given).content
    torch.testing.assert_close(short, long)
    assert (short - same).abs().max() > 1e-2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_half_precision_is_finite_and_close(dtype: torch.dtype) -> None:
    model, half = ours(), ours().to(dtype)
    masks = TwoStreamMasks(
        torch.ones(BATCH, LENGTH, LENGTH), mapping(), attention_mask=torch.ones(BATCH, LENGTH).tril(3)
    )
    for given in (None, memories()):
        wanted = model(IDS, masks, memory=given)
        out = half(IDS, masks, memory=None if given is None else [part.to(dtype) for part in given])
        for got, want in ((out.content, wanted.content), (out.query, wanted.query)):
            assert got is not None
            assert want is not None
            assert got.dtype == dtype
            torch.testing.assert_close(got.float(), want, atol=0.15 if dtype == torch.bfloat16 else 0.02, rtol=0.02)


def options() -> XLNetOptions:
    return XLNetOptions(vocabulary=VOCABULARY, dim=DIM, num_layers=2, num_heads=HEADS, feed_forward_dim=24)


def test_loaded_weights_are_a_copy_and_keep_their_dtype() -> None:
    theirs = tiny(head=True).to(torch.bfloat16)
    model = load_xlnet(theirs)
    assert {p.dtype for p in model.parameters()} == {torch.bfloat16}
    assert all(p.requires_grad for p in model.parameters())
    shared = {p.untyped_storage().data_ptr() for p in theirs.parameters()}
    assert shared.isdisjoint(p.untyped_storage().data_ptr() for p in model.parameters())


def test_weights_that_do_not_fit_are_named() -> None:
    state = tiny(head=True).state_dict()
    assert load_xlnet_state(state, options()).head_bias.abs().max() > 0.2
    missing = {name: tensor for name, tensor in state.items() if not name.endswith("layer.1.rel_attn.k")}
    with pytest.raises(GnomonError, match=r"layers\.1\.attention\.key\.weight"):
        load_xlnet_state(missing, options())
    with pytest.raises(GnomonError, match="do not fit the options"):
        load_xlnet_state(state, replace(options(), feed_forward_dim=25))
    with pytest.raises(GnomonError, match="no weight of an XLNet"):
        load_xlnet_state({**state, "transformer.layer.0.other": state["lm_loss.bias"]}, options())
    with pytest.raises(GnomonError, match="head has weights of its own"):
        load_xlnet_state({**state, "lm_loss.weight": state["lm_loss.weight"] + 1}, options())
    with pytest.raises(GnomonError, match="no word_embedding"):
        load_xlnet_state({}, options())
    with pytest.raises(GnomonError, match="Linear is not an XLNet"):
        load_xlnet(torch.nn.Linear(2, 2))


@pytest.mark.usefixtures("unchecked")
def test_calls_and_options_that_do_not_fit_are_named() -> None:
    with pytest.raises(ShapeError, match="backwards, got 3 rows"):
        ours(mirrored=True)(IDS[:3])
    with pytest.raises(GnomonError, match="memory has 1 layers, the model 2"):
        ours()(IDS, memory=memories()[:1])
    with pytest.raises(GnomonError, match="clamp_length is at least 1"):
        replace(options(), clamp_length=0)
    with pytest.raises(GnomonError, match="activation is one of"):
        replace(options(), activation="tanh")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="num_layers of at least 1"):
        replace(options(), num_layers=0)


@torch.no_grad()
def test_positions_can_be_passed_and_only_their_distances_count() -> None:
    model = ours()
    shifted: Tensor = model(IDS, positions=torch.arange(LENGTH)[None] + 50).content
    torch.testing.assert_close(shifted, model(IDS).content, atol=1e-5, rtol=1e-5)
    assert (model(IDS, positions=2 * torch.arange(LENGTH)[None]).content - shifted).abs().max() > 1e-2


@torch.no_grad()
def test_a_model_begins_with_plain_predictions() -> None:
    torch.manual_seed(0)
    fresh = XLNet(options())
    out = fresh(IDS, TwoStreamMasks(perm_mask(), mapping()))
    loss = torch.nn.functional.cross_entropy(fresh.logits(out.hidden).flatten(0, 1), IDS[:, :3].flatten())
    assert 2.5 < float(loss) < 5.0  # ln(30) is 3.4
