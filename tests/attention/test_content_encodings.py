"""Encodings that read content and position together, inside attention: formulas in loops, masks, caches, gradients."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from gnomon import positions
from gnomon.attention import Attention, AttentionMask, LayerCache, Sight, allowed
from gnomon.encodings import CoPE, DeBERTa, PositionEncoding, Shaw, TransformerXL, registry
from tests.helpers.content import content_formula
from tests.helpers.weights import normal, redraw

HEADS, KEY_HEADS, WIDTH, BATCH, LENGTH = 4, 2, 6, 2, 7
DIM = HEADS * WIDTH

ENCODINGS: dict[str, Callable[[], PositionEncoding]] = {
    "shaw": lambda: Shaw(HEADS, WIDTH, max_distance=(3, 1), shared_heads=False),
    "transformer_xl": lambda: TransformerXL(HEADS, WIDTH, dim=10, clamp_length=4),
    "deberta": lambda: DeBERTa(HEADS, WIDTH, dim=10, max_distance=5),
    "deberta log": lambda: DeBERTa(HEADS, WIDTH, dim=10, max_distance=12, buckets=4, norm_eps=1e-3),
    "cope": lambda: CoPE(HEADS, WIDTH, max_positions=4),
}
CAUSAL = [(name, causal) for name in ENCODINGS for causal in (True, False) if causal or name != "cope"]

DOCUMENTS = [[3, 3, 3, 8, 8, 8, 8], [0, 0, 1, 1, 2, 2, 2]]
MASKS: dict[str, dict[str, list[list[int]]]] = {
    "open": {},
    "left": {"real": [[0, 0, 1, 1, 1, 1, 1], [1] * 7]},
    "right": {"real": [[1, 1, 1, 1, 1, 0, 0], [1] * 7]},
    "left and documents": {"real": [[0, 1, 1, 1, 1, 1, 1], [1] * 7], "documents": DOCUMENTS},
}


def layer_with(name: str, *, causal: bool = True, window: int | None = None, **given: Any) -> Attention:
    """Grouped key heads, weights that show faults, and the scale that the encoding asks for."""
    encoding = ENCODINGS[name]()
    scale = getattr(encoding, "scale", None)
    options: dict[str, Any] = {"num_heads": HEADS, "num_key_heads": KEY_HEADS, "scale": scale, "window": window}
    layer = Attention(DIM, encoding=encoding, causal=causal, **options | given)
    redraw(layer)
    redraw(encoding, std=0.6)
    return layer


def mask_from(fields: dict[str, list[list[int]]]) -> AttentionMask:
    given = {name: torch.tensor(rows) for name, rows in fields.items()}
    return AttentionMask.of(given.get("real"), given.get("documents"))


def rising() -> Tensor:
    """Positions with gaps that differ from row to row."""
    return torch.tensor([[4, 5, 9, 10, 12, 30, 31], [1, 2, 3, 5, 8, 13, 21]])


def written_out(layer: Attention, x: Tensor, place: Tensor, real: Any = None, documents: Any = None) -> Tensor:
    """The output of the layer in float64, row by row and query by query, from its weights and the scalar formula.

    The formula is given the keys that the query sees, and no others.
    """
    formula, shared, rows = content_formula(layer.encoding), layer.num_heads // layer.num_key_heads, []
    q, k, v = (
        torch.nn.functional.linear(x.double(), part.weight.double(), part.bias.double())
        .unflatten(-1, (-1, WIDTH))
        .transpose(1, 2)
        for part in (layer.query, layer.key, layer.value)
    )
    for b in range(len(x)):
        heads = torch.zeros(LENGTH, layer.num_heads, WIDTH, dtype=torch.float64)
        for i in range(LENGTH):
            seen = [j for j in range(LENGTH) if j == i or _sees(layer.sight, i, j, b, real, documents)]
            for h in range(layer.num_heads):
                query, keys = q[b, h, i], k[b, h // shared, seen]
                at = [place[b, j].item() for j in seen]
                [added] = formula(h, [query.tolist()], keys.tolist(), [int(place[b, i])], [int(p) for p in at])
                logits = layer.scale * keys @ query + torch.tensor(added, dtype=torch.float64)
                heads[i, h] = logits.softmax(0) @ v[b, h // shared, seen]
        rows.append(heads.flatten(1))
    return torch.nn.functional.linear(torch.stack(rows), layer.output.weight.double(), layer.output.bias.double())


def _sees(sight: Sight, i: int, j: int, row: int, real: Any, documents: Any) -> bool:
    near = sight.window is None or (i - j < sight.window if sight.causal else abs(i - j) <= sight.window // 2)
    same = documents is None or documents[row][i] == documents[row][j]
    return near and same and (j <= i or not sight.causal) and (real is None or bool(real[row][j]))


def test_every_registered_encoding_with_a_content_bias_is_here() -> None:
    q, place = normal(1, 2, 3, 8), torch.arange(3)[None]
    samples = {name: cls.sample(2, 8) for name, cls in registry}
    adding = {
        name for name, made in samples.items() if made.axes == 1 and made.content_bias(q, q, place, place) is not None
    }
    assert adding == {name.split()[0] for name in ENCODINGS}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize(("name", "causal"), CAUSAL)
def test_attention_equals_the_formula_written_out_in_loops(
    name: str, causal: bool, mask: str, window: int | None
) -> None:
    layer, x = layer_with(name, causal=causal, window=window), normal(BATCH, LENGTH, DIM)
    got = layer(x, rising(), mask_from(MASKS[mask]))
    want = written_out(layer, x, rising(), **MASKS[mask])
    torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("steps", [[1] * 7, [3, 1, 2, 1]])
@pytest.mark.parametrize("name", ENCODINGS)
def test_steps_through_a_cache_equal_one_pass(name: str, steps: list[int], window: int | None, mask: str) -> None:
    layer, x, cache = layer_with(name, window=window), normal(BATCH, LENGTH, DIM), LayerCache()
    parts, start, full = [], 0, mask_from(MASKS[mask])
    for step in steps:
        now = slice(start, start + step)
        parts.append(layer(x[:, now], rising()[:, now], full.slots(start, start + step), cache))
        start += step
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, rising(), full), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "causal"), CAUSAL)
def test_packed_documents_give_what_they_give_alone(name: str, causal: bool) -> None:
    layer, x, documents = layer_with(name, causal=causal), normal(BATCH, LENGTH, DIM), torch.tensor(DOCUMENTS)
    place = positions.from_documents(documents)
    packed = layer(x, place, AttentionMask.of(documents=documents))
    for row, ends in enumerate(([0, 3, 7], [0, 2, 4, 7])):
        for start, end in itertools.pairwise(ends):
            alone = layer(x[[row], start:end], place[[row], start:end])
            torch.testing.assert_close(packed[[row], start:end], alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mask", ["left", "right"])
@pytest.mark.parametrize(("name", "causal"), CAUSAL)
def test_padded_rows_give_what_they_give_alone(name: str, causal: bool, mask: str) -> None:
    layer, x, real = layer_with(name, causal=causal), normal(BATCH, LENGTH, DIM), torch.tensor(MASKS[mask]["real"])
    place = positions.from_mask(real)
    got, kept = layer(x, place, AttentionMask.of(real)), real[0] == 1
    alone = layer(x[:1, kept], torch.arange(5)[None])
    torch.testing.assert_close(got[:1, kept], alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ENCODINGS)
def test_half_precision_and_autocast_stay_near_float32(name: str, dtype: torch.dtype) -> None:
    layer, x, mask = layer_with(name), normal(BATCH, LENGTH, DIM), mask_from(MASKS["left"])
    full = layer(x, rising(), mask)
    with torch.autocast("cpu", dtype=dtype):
        cast = layer(x, rising(), mask)
    low = layer.to(dtype)(x.to(dtype), rising(), mask)
    for got in (cast, low):
        assert got.dtype == dtype
        assert (got.float() - full).abs().max() < 0.02 * full.abs().max()


@pytest.mark.parametrize("name", ENCODINGS)
def test_parameters_and_inputs_get_the_gradients_of_finite_differences(name: str) -> None:
    layer, mask = layer_with(name).double(), mask_from(MASKS["left and documents"])
    x = normal(BATCH, LENGTH, DIM).double().requires_grad_()
    names, values = zip(*layer.encoding.named_parameters(prefix="encoding"), strict=True)

    def output(x: Tensor, *values: Tensor) -> Tensor:
        result: Tensor = functional_call(layer, dict(zip(names, values, strict=True)), (x, rising(), mask))
        return result

    assert torch.autograd.gradcheck(output, (x, *values), fast_mode=True)
    for name, value in zip(names, torch.autograd.grad(output(x, *values).square().sum(), values), strict=True):
        # A bias of DeBERTa's position keys adds one number to all keys of a query, which a softmax does not see.
        assert (value.abs().max() > 1e-3) == (name != "encoding.position_key.bias"), name


@pytest.mark.parametrize("segment", [2, 3])
def test_memory_of_detached_segments_equals_one_pass_and_gets_no_gradient(segment: int) -> None:
    """Transformer-XL's recurrence in two layers: what a segment reads of earlier ones is a cache cut from the graph."""
    layers, caches = [layer_with("transformer_xl") for _ in range(2)], [LayerCache() for _ in range(2)]
    inputs, parts = [normal(BATCH, segment, DIM, seed=n).requires_grad_() for n in range(3)], []
    for n, hidden in enumerate(inputs):
        place = n * segment + torch.arange(segment)[None]
        for layer, cache in zip(layers, caches, strict=True):
            hidden = layer(hidden, place, cache=cache)
            assert cache.stored is not None
            keys, values = cache.stored.keys.detach(), cache.stored.values.detach()
            cache.stored = replace(cache.stored, keys=keys, values=values)
        parts.append(hidden)
    whole = torch.cat([part.detach() for part in inputs], dim=1)
    for layer in layers:
        whole = layer(whole, torch.arange(3 * segment)[None])
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=1e-5, atol=1e-5)
    parts[-1].sum().backward()
    assert [part.grad is not None for part in inputs] == [False, False, True]


@pytest.mark.parametrize(("memory", "longest", "length"), [(4, 4, 4), (4, 4, 3), (2, 4, 3), (0, 4, 3), (0, 2, 6)])
def test_a_window_hides_what_same_length_hides(memory: int, longest: int, length: int) -> None:
    """The mask of the published mem_transformer.py, of which transformers PR 14832 says that it is off by one.

    It hides key j of query i for j <= i - shift, where shift is longest - memory, or the length where that is more: a
    query sees itself and longest - 1 keys before it, one fewer than the memory has. That is a window of `longest`.
    """
    extra = memory + length - longest
    shift = length - extra if extra > 0 else length
    hidden = torch.ones(length, memory + length).triu(1 + memory) + torch.ones(length, memory + length).tril(-shift)
    sight, lengths = Sight(causal=True, window=longest), (length, memory + length)
    seen = allowed(AttentionMask(), AttentionMask(), lengths=lengths, sight=sight, device=torch.device("cpu"))
    assert seen is not None
    assert torch.equal(seen[0, 0], hidden == 0)
