"""The attention layer against attention written out in loops, for every hook, mask and grouping."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import FIRE, KERPLE, ALiBi, NoPE, Rotary, Sandwich, T5Bias
from gnomon.encodings.base import PositionEncoding, registry
from gnomon.encodings.rotary import reference as rotary_reference
from gnomon.errors import GnomonError, PositionError, ShapeError
from tests.helpers.attention_reference import Rule, attention_reference
from tests.helpers.bias_encodings import bias_formula
from tests.helpers.toy_encodings import BOTH, CONTENT, BothBiases, ContentBias
from tests.helpers.weights import normal, redraw

HEADS, HEAD_DIM, BATCH, LENGTH = 4, 6, 2, 7
DIM = HEADS * HEAD_DIM
FREQUENCIES = [1.0, 10000 ** (-2 / 4)]


def turn(vector: list[float], position: int) -> list[float]:
    return rotary_reference(vector, position, FREQUENCIES, "interleaved")


BIASES: dict[str, PositionEncoding] = {
    "alibi": ALiBi(HEADS),
    "t5": T5Bias(HEADS, num_buckets=8, max_distance=20),
    "t5 causal": T5Bias(HEADS, num_buckets=8, max_distance=20, direction="causal"),
    "kerple": KERPLE(HEADS),
    "kerple power": KERPLE(HEADS, form="power"),
    "sandwich": Sandwich(HEADS, sinusoid_dim=6),
    "fire": FIRE(HEADS, hidden_dim=5, threshold=6),
}


def _added(encoding: PositionEncoding) -> Rule:
    """What a bias adds, from its formula and the numbers it holds when it is asked."""
    return Rule(logit=lambda h, q, k, i, j: bias_formula(encoding)(h, i, j))


ENCODINGS: dict[str, tuple[PositionEncoding, Rule]] = {
    "nope": (NoPE(), Rule()),
    "rotary": (Rotary(HEAD_DIM, rotary_dim=4, layout="interleaved"), Rule(rotate_query=turn, rotate_key=turn)),
    **{name: (encoding, _added(encoding)) for name, encoding in BIASES.items()},
    "content": (ContentBias(), CONTENT),
    "both": (BothBiases(HEADS), BOTH),
}
MASKS: dict[str, dict[str, list[list[int]]]] = {
    "open": {},
    "left": {"real": [[0, 0, 1, 1, 1, 1, 1], [1] * 7]},
    "right": {"real": [[1, 1, 1, 1, 1, 0, 0], [1] * 7]},
    "documents": {"documents": [[3, 3, 3, 8, 8, 8, 8], [0, 0, 1, 1, 2, 2, 2]]},
    "left and documents": {
        "real": [[0, 1, 1, 1, 1, 1, 1], [1] * 7],
        "documents": [[3, 3, 3, 8, 8, 8, 8], [0, 0, 1, 1, 2, 2, 2]],
    },
}
CASES = [
    case
    for case in itertools.product(ENCODINGS, MASKS, (True, False), (4, 2, 1))
    if case[2] or not ENCODINGS[case[0]][0].causal_only
]


def layer_with(encoding: PositionEncoding, *, causal: bool = True, key_heads: int = HEADS) -> Attention:
    layer = Attention(DIM, num_heads=HEADS, num_key_heads=key_heads, encoding=encoding, causal=causal)
    redraw(layer.float())  # another test may have left a shared encoding in half precision
    return layer


def mask_from(fields: dict[str, list[list[int]]]) -> AttentionMask:
    given = {name: torch.tensor(rows) for name, rows in fields.items()}
    return AttentionMask.of(given.get("real"), given.get("documents"))


def scattered() -> Tensor:
    """Positions that are neither slots nor the same in both rows."""
    return torch.tensor([[4, 0, 9, 2, 5, 30, 7], [1, 2, 3, 5, 8, 13, 21]])


def test_every_registered_encoding_that_adds_to_logits_by_counts_of_tokens_has_a_rule_here() -> None:
    at = torch.arange(2)[None]
    samples = {name: cls.sample(HEADS, HEAD_DIM) for name, cls in registry}
    adding = {name for name, made in samples.items() if made.axes == 1 and made.bias(at, at) is not None}
    assert adding <= {name for name, cls in registry for encoding, _ in ENCODINGS.values() if type(encoding) is cls}


@pytest.mark.parametrize(("encoding", "mask", "causal", "key_heads"), CASES)
def test_attention_equals_the_formula_written_out_in_loops(
    encoding: str, mask: str, causal: bool, key_heads: int
) -> None:
    module, rule = ENCODINGS[encoding]
    layer, x = layer_with(module, causal=causal, key_heads=key_heads), normal(BATCH, LENGTH, DIM)
    out = layer(x, scattered(), mask_from(MASKS[mask]))
    expected = attention_reference(layer, x, scattered(), rule=rule, **MASKS[mask])
    torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=1e-5)


def test_one_row_of_positions_serves_the_whole_batch() -> None:
    layer, x = layer_with(ENCODINGS["rotary"][0]), normal(BATCH, LENGTH, DIM)
    row = scattered()[:1]
    torch.testing.assert_close(layer(x, row), layer(x, row.expand(BATCH, -1)))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_later_token_changes_no_earlier_output(encoding: str) -> None:
    layer, x = layer_with(ENCODINGS[encoding][0]), normal(BATCH, LENGTH, DIM)
    changed = x.clone()
    changed[:, 4:] += 1
    before, after = layer(x, scattered()), layer(changed, scattered())
    torch.testing.assert_close(after[:, :4], before[:, :4])
    assert (after[:, 4:] - before[:, 4:]).abs().amax(-1).min() > 1e-2


@pytest.mark.parametrize("causal", [True, False])
def test_packed_documents_give_what_they_give_alone(causal: bool) -> None:
    layer, x = layer_with(ENCODINGS["both"][0], causal=causal), normal(1, LENGTH, DIM)
    documents = torch.tensor([[5, 5, 5, 9, 9, 9, 9]])
    place = positions.from_documents(documents)
    packed = layer(x, place, AttentionMask.of(documents=documents))
    alone = [layer(x[:, part], place[:, part]) for part in (slice(0, 3), slice(3, 7))]
    torch.testing.assert_close(packed, torch.cat(alone, dim=1), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("encoding", "causal"),
    [pair for pair in itertools.product(ENCODINGS, (True, False)) if pair[1] or not ENCODINGS[pair[0]][0].causal_only],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_row_of_padding_alone_gives_finite_numbers_and_gradients(
    encoding: str, dtype: torch.dtype, causal: bool
) -> None:
    layer = layer_with(ENCODINGS[encoding][0], causal=causal).to(dtype)
    x = normal(BATCH, LENGTH, DIM).to(dtype).requires_grad_()
    out = layer(x, scattered(), mask_from({"real": [[0] * LENGTH, [0, 0, 1, 1, 1, 1, 1]]}))
    out.sum().backward()
    assert out.dtype == dtype
    assert bool(out.isfinite().all())
    assert x.grad is not None
    assert bool(x.grad.isfinite().all())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_bfloat16_stays_near_float32(encoding: str) -> None:
    layer, x = layer_with(ENCODINGS[encoding][0]).bfloat16(), normal(BATCH, LENGTH, DIM).bfloat16()
    low = layer(x, scattered(), mask_from(MASKS["left"]))
    full = layer.float()(x.float(), scattered(), mask_from(MASKS["left"]))
    assert (low.float() - full).abs().max() < 0.02 * full.abs().max()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_autocast_to_bfloat16_stays_near_float32(encoding: str) -> None:
    layer, x = layer_with(ENCODINGS[encoding][0]), normal(BATCH, LENGTH, DIM)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = layer(x, scattered(), mask_from(MASKS["left"]))
    full = layer(x, scattered(), mask_from(MASKS["left"]))
    assert low.dtype == torch.bfloat16
    assert (low.float() - full).abs().max() < 0.02 * full.abs().max()


def test_a_causal_alibi_bias_far_out_keeps_its_digits_in_bfloat16() -> None:
    x, far = normal(BATCH, LENGTH, DIM).bfloat16(), 5000 + torch.arange(LENGTH)[None]
    low, symmetric = (layer_with(ALiBi(HEADS, form=form)).bfloat16()(x, far) for form in ("causal", "symmetric"))
    assert (low - symmetric).abs().max() < 0.02 * symmetric.abs().max()


@pytest.mark.parametrize(
    ("encoding", "mask", "expected"),
    [
        ("nope", "open", (None, True)),
        ("rotary", "open", (None, True)),
        ("nope", "left", (torch.bool, False)),
        ("alibi", "open", (torch.bfloat16, False)),
        ("both", "left", (torch.bfloat16, False)),
    ],
)
def test_the_kernel_gets_the_cheapest_mask_that_says_enough(
    monkeypatch: pytest.MonkeyPatch, encoding: str, mask: str, expected: tuple[torch.dtype | None, bool]
) -> None:
    """No mask where is_causal will do; bool without a bias; with one the dtype of q, as CUDA kernels require."""
    seen: list[tuple[torch.dtype | None, bool]] = []

    def kernel(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, **given: Any) -> Tensor:
        seen.append((None if attn_mask is None else attn_mask.dtype, given.get("is_causal", False)))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, **given)

    monkeypatch.setattr("gnomon.attention.dense.scaled_dot_product_attention", kernel)
    layer, x = layer_with(ENCODINGS[encoding][0]).bfloat16(), normal(BATCH, LENGTH, DIM).bfloat16()
    layer(x, scattered(), mask_from(MASKS[mask]))
    assert seen == [expected]


def test_a_bias_sends_gradients_to_its_parameters() -> None:
    class Scaled(BothBiases):
        def __init__(self) -> None:
            super().__init__(HEADS)
            self.strength = torch.nn.Parameter(torch.tensor(1.0))

        def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
            return self.strength * super().bias(query_positions, key_positions)

    encoding = Scaled()
    layer_with(encoding)(normal(BATCH, LENGTH, DIM), scattered()).square().sum().backward()
    assert encoding.strength.grad is not None
    assert encoding.strength.grad.abs() > 1e-3


def test_heads_and_width_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ShapeError, match="dim=24, num_heads=5"):
        Attention(24, num_heads=5, encoding=NoPE(), causal=True)
    with pytest.raises(ShapeError, match="num_heads=4, num_key_heads=3"):
        Attention(24, num_heads=4, num_key_heads=3, encoding=NoPE(), causal=True)


def test_an_encoding_for_causal_masks_is_refused_by_bidirectional_attention() -> None:
    with pytest.raises(GnomonError, match="causal mask only"):
        Attention(DIM, num_heads=HEADS, encoding=ALiBi(HEADS, form="causal"), causal=False)


@pytest.mark.parametrize("heads", [1, 2, 8])
def test_a_bias_for_another_number_of_heads_is_refused(heads: int) -> None:
    layer = layer_with(ALiBi(heads))
    with pytest.raises(ShapeError, match=rf"shape \(2, {heads}, 7, 7\).*\(2, 4, 7, 7\)"):
        layer(normal(BATCH, LENGTH, DIM), scattered())


@pytest.mark.usefixtures("unchecked")
def test_positions_that_do_not_fit_are_refused() -> None:
    layer, x = layer_with(NoPE()), normal(BATCH, LENGTH, DIM)
    with pytest.raises(ShapeError, match=r"\(2, 6\).*\(2, 7\)"):
        layer(x, scattered()[:, :6])
    with pytest.raises(ShapeError, match=r"\(3, 7\).*\(2, 7\)"):
        layer(x, scattered()[[0, 1, 0]])
    with pytest.raises(PositionError, match="float32"):
        layer(x, scattered().float())


def test_a_mask_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"\(1, 7\).*\(2, 7\)"):
        layer_with(NoPE())(normal(BATCH, LENGTH, DIM), scattered(), AttentionMask.of(torch.ones(1, 7)))


@pytest.mark.parametrize("causal", [True, False])
def test_rows_that_share_their_positions_share_one_bias(causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = layer_with(T5Bias(HEADS, num_buckets=8, max_distance=20), causal=causal)
    x, shared = normal(BATCH, LENGTH, DIM), torch.arange(LENGTH)[None]
    expected = layer(x, shared.repeat(BATCH, 1))  # a row of its own for each
    rows: list[int] = []
    bias = layer.encoding.bias

    def counted(queries: Tensor, keys: Tensor) -> Tensor | None:
        rows.extend((len(queries), len(keys)))
        return bias(queries, keys)

    monkeypatch.setattr(layer.encoding, "bias", counted)
    padded = AttentionMask.of(torch.ones(BATCH, LENGTH).tril(LENGTH - 2))
    assert torch.equal(layer(x, shared), expected)
    assert torch.isfinite(layer(x, shared, padded)).all()
    assert rows == [1, 1, 1, 1]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(5, 32), (1, 2, 5, 32), (2, 5, 31), (2, 0, 32), (0, 5, 32)])
def test_inputs_that_are_not_rows_of_tokens_are_one_sentence(shape: tuple[int, ...]) -> None:
    layer = Attention(32, num_heads=4, encoding=NoPE(), causal=True)
    with pytest.raises(ShapeError, match=r"takes x as \(batch, tokens, 32\)"):
        layer(torch.zeros(shape), torch.arange(5)[None])


@pytest.mark.usefixtures("unchecked")
def test_positions_that_are_no_tensor_are_one_sentence() -> None:
    layer = Attention(32, num_heads=4, encoding=NoPE(), causal=True)
    with pytest.raises(PositionError, match="an int64 tensor, got list"):
        layer(torch.zeros(1, 2, 32), [[0, 1]])  # type: ignore[arg-type]
