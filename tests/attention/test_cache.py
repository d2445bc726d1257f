"""Decoding with a cache, at the level of one attention layer."""

import pytest
import torch
from torch import Tensor

from gnomon.attention import Attention, AttentionMask, Cache, LayerCache
from gnomon.encodings import NoPE, Rotary
from gnomon.encodings.base import PositionEncoding, registry
from gnomon.errors import GnomonError, ShapeError
from tests.helpers.toy_encodings import BothBiases, ContentBias
from tests.helpers.weights import normal, redraw

HEADS, HEAD_DIM, BATCH, LENGTH = 4, 8, 2, 9
DIM = HEADS * HEAD_DIM
REAL = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1], [1] * 9])
DOCUMENTS = torch.tensor([[4, 4, 4, 4, 9, 9, 9, 9, 9], [0, 0, 1, 1, 1, 1, 2, 2, 2]])
POSITIONS = torch.tensor([[0, 0, 0, 0, 1, 2, 3, 4, 5], [2, 4, 6, 7, 8, 9, 11, 20, 21]])
#: Those that turn each head in its own way, so that heads cannot share a key head.
OWN_KEY_HEADS = ("mixed_rotary",)


def encodings() -> dict[str, PositionEncoding]:
    toys = {"toy content": ContentBias(), "toy both": BothBiases(HEADS)}
    return {name: cls.sample(HEADS, HEAD_DIM) for name, cls in registry} | toys


def layer_with(encoding: PositionEncoding, key_heads: int = 2) -> Attention:
    layer = Attention(DIM, num_heads=HEADS, num_key_heads=key_heads, encoding=encoding, causal=True)
    redraw(layer)
    return layer


def run(
    layer: Attention, x: Tensor, mask: dict[str, Tensor], cache: LayerCache | None, part: slice = slice(None)
) -> Tensor:
    description = AttentionMask.of(**{name: whole[:, part] for name, whole in mask.items()})
    out: Tensor = layer(x[:, part], places(layer.encoding)[: len(x), part], description, cache)
    return out


def places(encoding: PositionEncoding) -> Tensor:
    """POSITIONS, with as many coordinates as the encoding takes, all within its grid."""
    if encoding.axes == 1:
        return POSITIONS
    coordinates = torch.stack([POSITIONS // (axis + 1) for axis in range(encoding.axes)], dim=-1)
    return coordinates if encoding.grid is None else coordinates % torch.tensor(encoding.grid)


@pytest.mark.parametrize("mask", [{}, {"attention_mask": REAL}, {"attention_mask": REAL, "documents": DOCUMENTS}])
@pytest.mark.parametrize("chunk", [1, 3, 4])
@pytest.mark.parametrize("name", encodings())
def test_chunks_through_a_cache_give_what_one_pass_gives(name: str, chunk: int, mask: dict[str, Tensor]) -> None:
    key_heads = HEADS if name in OWN_KEY_HEADS else 2
    layer, x, cache = layer_with(encodings()[name], key_heads), normal(BATCH, LENGTH, DIM), LayerCache()
    steps = [run(layer, x, mask, cache, slice(start, start + chunk)) for start in range(0, LENGTH, chunk)]
    assert cache.length == LENGTH
    torch.testing.assert_close(torch.cat(steps, dim=1), run(layer, x, mask, None), atol=1e-5, rtol=1e-5)


def test_what_a_cache_holds_is_what_attention_was_given() -> None:
    layer, x, cache = layer_with(Rotary(HEAD_DIM)), normal(BATCH, LENGTH, DIM), LayerCache()
    mask = {"attention_mask": REAL, "documents": DOCUMENTS}
    for part in (slice(0, 4), slice(4, 9)):
        run(layer, x, mask, cache, part)
    stored = cache.stored
    assert stored is not None
    raw = layer.key(x).view(BATCH, LENGTH, 2, HEAD_DIM).transpose(1, 2)
    torch.testing.assert_close(stored.keys, Rotary(HEAD_DIM).rotate_key(raw, POSITIONS))
    assert torch.equal(stored.positions, POSITIONS)
    assert stored.mask.real is not None
    assert torch.equal(stored.mask.real, REAL.bool())
    assert stored.mask.documents is not None
    assert torch.equal(stored.mask.documents, DOCUMENTS)


def test_reordered_rows_carry_their_keys_positions_and_padding() -> None:
    layer, x, cache = layer_with(BothBiases(HEADS)), normal(BATCH, LENGTH, DIM), LayerCache()
    mask = {"attention_mask": REAL, "documents": DOCUMENTS}
    run(layer, x, mask, cache, slice(0, 6))
    beams = torch.tensor([1, 1, 0])
    cache.reorder(beams)
    newest = AttentionMask.of(REAL[beams, 6:], DOCUMENTS[beams, 6:])
    out = layer(x[beams, 6:], POSITIONS[beams, 6:], newest, cache)
    torch.testing.assert_close(out, run(layer, x, mask, None)[beams, 6:], atol=1e-5, rtol=1e-5)


def test_gradients_flow_through_a_cache() -> None:
    layer, cache = layer_with(Rotary(HEAD_DIM)), LayerCache()
    x = normal(BATCH, LENGTH, DIM).requires_grad_()
    for part in (slice(0, 5), slice(5, 9)):
        out = run(layer, x, {}, cache, part)
    [through_cache] = torch.autograd.grad(out.square().sum(), x)
    [one_pass] = torch.autograd.grad(run(layer, x, {}, None)[:, 5:].square().sum(), x)
    torch.testing.assert_close(through_cache, one_pass, atol=1e-4, rtol=1e-4)
    assert through_cache[:, :5].abs().max() > 0.1


def test_a_reset_cache_has_forgotten_everything() -> None:
    layer, x, cache = layer_with(Rotary(HEAD_DIM)), normal(BATCH, LENGTH, DIM), LayerCache()
    run(layer, x + 1, {}, cache)
    cache.reset()
    assert cache.length == 0
    torch.testing.assert_close(run(layer, x, {}, cache), run(layer, x, {}, None))


def test_another_batch_or_layer_is_refused() -> None:
    layer, x, cache = layer_with(NoPE()), normal(BATCH, LENGTH, DIM), LayerCache()
    run(layer, x, {}, cache)
    with pytest.raises(ShapeError, match=r"\(2, 2, 8\), the new keys are \(1, 2, 8\)"):
        run(layer, x[:1], {}, cache)
    with pytest.raises(ShapeError, match=r"\(2, 2, 8\), the new keys are \(2, 4, 8\)"):
        run(layer_with(NoPE(), key_heads=4), x, {}, cache)
    with pytest.raises(GnomonError, match=r"torch\.float32.*torch\.bfloat16"):
        run(layer.bfloat16(), x.bfloat16(), {}, cache)
    assert cache.length == LENGTH


def test_a_cache_of_a_model_reorders_and_resets_every_layer() -> None:
    layer, x, cache = layer_with(NoPE()), normal(BATCH, LENGTH, DIM), Cache(num_layers=3)
    for layer_cache in cache.layers:
        run(layer, x, {}, layer_cache)
    cache.reorder(torch.tensor([1]))
    for layer_cache in cache.layers:
        assert layer_cache.stored is not None
        assert layer_cache.stored.keys.shape == (1, 2, LENGTH, HEAD_DIM)
    cache.reset()
    assert [layer_cache.length for layer_cache in cache.layers] == [0, 0, 0]
    with pytest.raises(GnomonError, match="num_layers=0"):
        Cache(num_layers=0)


@pytest.mark.parametrize("name", ["alibi", "t5", "transformer_xl"])
def test_positions_and_masks_that_the_caller_counts_up_in_place_stay_as_they_were(name: str) -> None:
    layer = layer_with(registry.get(name).sample(HEADS, HEAD_DIM), HEADS)
    x = normal(1, 6, DIM)
    whole = layer(x, torch.arange(6)[None])
    cache, positions, steps = LayerCache(), torch.zeros(1, 1, dtype=torch.int64), []
    real = torch.ones(1, 1, dtype=torch.bool)
    for step in range(6):
        steps.append(layer(x[:, step : step + 1], positions, AttentionMask(real), cache))
        positions += 1
    real.fill_(False)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, atol=1e-5, rtol=1e-5)
    assert cache.stored is not None
    assert cache.stored.positions.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert cache.stored.mask.real is not None
    assert cache.stored.mask.real.all()
