"""Frequencies that depend on the length: each query, and the keys that it sees, turn by the length of that query."""

from functools import partial

import pytest
import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import AttentionMask, LayerCache, rerotate_keys
from gnomon.encodings import NoPE
from gnomon.models import Decoder, Encoder, ModelOptions
from tests.helpers.attention_reference import Rule, attention_reference
from tests.helpers.length_dependent import (
    LEFT,
    LENGTH,
    PACKED,
    RULES,
    SETTINGS,
    SPLITS,
    TRAINED,
    VOCABULARY,
    WIDTH,
    attention,
    decoder,
    encoding,
    logit,
    slices,
    turned,
)
from tests.helpers.weights import normal, redraw, token_ids

rules = pytest.mark.parametrize("rule", RULES)
splits = pytest.mark.parametrize("split", SPLITS)
settings = pytest.mark.parametrize(("setting", "window"), [*((name, None) for name in SETTINGS), ("left padding", 6)])


@rules
@settings
@torch.no_grad()
def test_a_query_and_the_keys_it_sees_turn_by_the_length_of_the_query(
    rule: str, setting: str, window: int | None
) -> None:
    mask, place = SETTINGS[setting]
    layer, x = attention(encoding(rule), window=window), normal(3, LENGTH, 4 * WIDTH)
    written = Rule(logit=partial(logit, rule=rule), sees=lambda i, j: window is None or j > i - window)
    real, documents = (None if part is None else part.int().tolist() for part in (mask.real, mask.documents))
    expected = attention_reference(layer, x, place, rule=written, real=real, documents=documents)
    torch.testing.assert_close(layer(x, place, mask).double(), expected, atol=1e-5, rtol=1e-5)


@rules
@settings
@splits
@torch.no_grad()
def test_cached_attention_equals_one_pass_through_the_switch(
    rule: str, setting: str, split: str, window: int | None
) -> None:
    mask, place = SETTINGS[setting]
    place = place.expand(3, -1)
    layer, x, cache = (
        attention(encoding(rule, "interleaved"), window=window),
        normal(3, LENGTH, 4 * WIDTH),
        LayerCache(),
    )
    parts = [layer(x[:, step], place[:, step], mask.slots(step.start, step.stop), cache) for step in slices(split)]
    whole = layer(x, place, mask)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-5, rtol=1e-5)
    frozen = attention(encoding(rule, "interleaved").at_length(TRAINED), window=window)(x, place, mask)
    assert (frozen - whole).abs().max() > 0.01  # the switch is in there


@rules
@splits
@pytest.mark.parametrize("told", [{}, {"attention_mask": LEFT}, {"documents": PACKED}], ids=["plain", "left", "packed"])
@torch.no_grad()
def test_cached_decoding_of_a_model_equals_one_pass_through_the_switch(
    rule: str, split: str, told: dict[str, Tensor]
) -> None:
    """A call in which some row is padding alone is an error, so with padding the first is as long as that."""
    model, ids = decoder(rule), token_ids(3, LENGTH, vocabulary=VOCABULARY)
    cache, real = model.new_cache(), told.get("attention_mask", torch.ones_like(ids)).bool()
    whole = model(ids, **told)
    parts = [
        model(ids[:, step], **{name: part[:, step] for name, part in told.items()}, cache=cache)
        for step in slices(split, first=15 if "attention_mask" in told else 1)
    ]
    torch.testing.assert_close(torch.cat(parts, dim=1)[real], whole[real], atol=1e-5, rtol=1e-5)


@rules
@torch.no_grad()
def test_a_row_does_not_depend_on_other_rows_nor_on_earlier_calls(rule: str) -> None:
    model, ids = decoder(rule), token_ids(3, LENGTH, vocabulary=VOCABULARY)
    alone = [model(ids[[row], pads:]) for row, pads in enumerate((0, 9, 14))]
    model(token_ids(1, 60, vocabulary=VOCABULARY))
    together = model(ids, attention_mask=LEFT)
    for row, pads in enumerate((0, 9, 14)):
        torch.testing.assert_close(together[[row], pads:], alone[row], atol=1e-5, rtol=1e-5)
    assert torch.equal(model(ids[[2], 14:]), alone[2])


@rules
@torch.no_grad()
def test_no_token_depends_on_what_follows_it_and_documents_are_those_of_their_own_calls(rule: str) -> None:
    model, ids = decoder(rule), token_ids(3, LENGTH, vocabulary=VOCABULARY)
    whole = model(ids)
    for end in (TRAINED - 1, TRAINED, TRAINED + 1, LENGTH - 1):
        torch.testing.assert_close(model(ids[:, :end]), whole[:, :end], atol=1e-5, rtol=1e-5)
    packed = model(ids, documents=PACKED)
    torch.testing.assert_close(packed[[1], 5:], model(ids[[1], 5:]), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(packed[[0], 20:], model(ids[[0], 20:]), atol=1e-5, rtol=1e-5)


@rules
@pytest.mark.parametrize("window", [None, 6])
@torch.no_grad()
def test_without_a_causal_mask_all_tokens_of_a_sequence_turn_by_its_length(rule: str, window: int | None) -> None:
    """The length of a sequence is that of its row or its document, without padding; a window does not shorten it."""
    layer, x = attention(encoding(rule), causal=False, window=window), normal(3, LENGTH, 4 * WIDTH)
    for (row, pads), length in zip(enumerate((0, 9, 14)), (27, 18, 13), strict=True):
        turn = partial(turned, rule=rule, length=length)
        written = Rule(turn, turn, sees=lambda i, j: window is None or abs(i - j) <= window // 2)
        place, inner = torch.arange(length)[None], x[[row], pads:]
        expected = attention_reference(layer, inner, place, rule=written)
        got = layer(x, positions.from_mask(LEFT), AttentionMask.of(LEFT))[[row], pads:]
        torch.testing.assert_close(got.double(), expected, atol=1e-5, rtol=1e-5)


@rules
@torch.no_grad()
def test_an_encoder_gives_each_sequence_and_document_what_it_gets_alone(rule: str) -> None:
    options = ModelOptions(VOCABULARY, dim=4 * WIDTH, num_layers=3, num_heads=4, num_key_heads=2)
    model, ids = Encoder(options, encoding=encoding(rule)), token_ids(3, LENGTH, vocabulary=VOCABULARY)
    redraw(model, std=0.3)
    for mask in (LEFT, LEFT.flip(-1)):
        padded = model(ids, attention_mask=mask)
        for row in range(3):
            real = mask[row].bool()
            torch.testing.assert_close(padded[row, real], model(ids[[row]][:, real])[0], atol=1e-5, rtol=1e-5)
    packed = model(ids, documents=PACKED)
    for row, part in ((0, slice(20)), (0, slice(20, 27)), (1, slice(5, 27)), (2, slice(9, 18))):
        torch.testing.assert_close(packed[[row], part], model(ids[[row], part]), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_layers_without_rotation_may_stand_between() -> None:
    options = ModelOptions(VOCABULARY, dim=4 * WIDTH, num_layers=3, num_heads=4)
    model = Decoder(options, encoding=[encoding("dynamic"), NoPE(), encoding("longrope")])
    redraw(model, std=0.3)
    ids, cache = token_ids(2, LENGTH, vocabulary=VOCABULARY), model.new_cache()
    parts = [model(ids[:, step], cache=cache) for step in slices("fives")]
    torch.testing.assert_close(torch.cat(parts, dim=1), model(ids), atol=1e-5, rtol=1e-5)


@rules
@torch.no_grad()
def test_a_cache_of_rotated_keys_that_turns_them_at_each_change_gives_the_same_scores(rule: str) -> None:
    """What a server can do that has no room for unrotated keys."""
    made, raw, q = encoding(rule), normal(2, 2, LENGTH, WIDTH), normal(2, 2, LENGTH, WIDTH, seed=3)
    starts = torch.tensor([[0], [5]])
    place = torch.arange(LENGTH) + starts
    lengths = place + 1
    regimes = made.regimes(lengths)
    cached, turns = raw[:, :, :0], 0
    for step in range(LENGTH):
        now = made.at_length(lengths[:, step])
        if step and (regimes[:, step] != regimes[:, step - 1]).any():
            before = made.at_length(lengths[:, step - 1])
            cached, turns = rerotate_keys(cached, place[:, :step], before, now), turns + 1
        here = slice(step, step + 1)
        cached = torch.cat((cached, now.rotate_key(raw[:, :, here], place[:, here])), dim=2)
        scores = now.rotate_query(q[:, :, here], place[:, here]) @ cached.mT
        seen = raw[:, :, : step + 1]
        unrotated = now.rotate_query(q[:, :, here], place[:, here]) @ now.rotate_key(seen, place[:, : step + 1]).mT
        torch.testing.assert_close(scores, unrotated, atol=2e-5, rtol=1e-5)
    assert turns == (2 if rule == "longrope" else 16)
