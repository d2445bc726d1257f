"""Random ids for any encoding: the inner formula at the drawn ids, decoding, redrawing, and what may not be wrapped."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.encodings import (
    ALiBi,
    AxialRotary,
    CoPE,
    Learned,
    NoPE,
    PositionEncoding,
    RandomizedPositions,
    Rotary,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    learned,
    rotary,
    sinusoidal,
)
from gnomon.encodings.frequencies import DynamicNTK, Frequencies
from gnomon.encodings.randomized import reference
from gnomon.errors import GnomonError, PositionError
from gnomon.models import Decoder, ModelOptions
from gnomon.testing import Reference
from tests.helpers.bias_encodings import bias_formula
from tests.helpers.case import Case
from tests.helpers.content import content_formula
from tests.helpers.encodings import inverse_reference
from tests.helpers.mutated_encodings import ClampedAtTheEnd, FirstRowForAll, OffByOne, SignFlipped, Wrapped
from tests.helpers.weights import normal, redraw, token_ids

HEADS, WIDTH, DIM, SPAN = 3, 8, 24, 400
DYNAMIC = DynamicNTK(4.0, 64, 500.0)


def cases() -> Iterator[Case]:
    for name, (inner, make) in _inner().items():
        made = RandomizedPositions(inner, max_length=40, span=SPAN, seed=3)
        yield Case(f"randomized-{name}", made, _at_drawn_ids(make(made), made))
    # Eight ids far apart: already the first one is beyond the trained length.
    long = RandomizedPositions(Rotary(WIDTH, frequencies=DYNAMIC), max_length=8, span=SPAN, seed=21)
    length = int(long.ids[0]) + 1
    assert length > DYNAMIC.original_max_length
    yield Case("randomized-dynamic", long, _at_drawn_ids(_rotary(DYNAMIC.at_length(length)), long))


def _inner() -> dict[str, tuple[PositionEncoding, Callable[[RandomizedPositions], Reference]]]:
    torch.manual_seed(0)
    alibi, t5, xl = ALiBi(HEADS), T5Bias(HEADS), TransformerXL(HEADS, WIDTH, dim=DIM)
    table, rope = Learned(SPAN, DIM, init_std=1.0), Rotary(WIDTH)
    redraw(xl)
    redraw(t5)
    rows: list[list[float]] = table.weight.tolist()
    return {
        "sinusoidal": (Sinusoidal(DIM), lambda _: Reference(embed=_sinusoid)),
        "learned": (table, lambda _: Reference(embed=partial(learned.reference, table=rows, padding_offset=0))),
        "rotary": (rope, lambda _: _rotary(rope.frequencies)),
        "alibi": (alibi, lambda _: Reference(bias=bias_formula(alibi))),
        "t5": (t5, lambda _: Reference(bias=bias_formula(t5))),
        "transformer_xl": (xl, lambda _: Reference(content_bias=content_formula(xl))),
    }


def _sinusoid(vector: list[float], position: int) -> list[float]:
    return [value + sinusoidal.reference(position, column, DIM) for column, value in enumerate(vector)]


def _rotary(rule: Frequencies) -> Reference:
    inverse = [inverse_reference(rule, i, WIDTH) for i in range(WIDTH // 2)]

    def turn(vector: list[float], position: int) -> list[float]:
        return rotary.reference(vector, position, inverse, "half")

    return Reference(rotate_query=turn, rotate_key=turn)


def _at_drawn_ids(inner: Reference, made: RandomizedPositions) -> Reference:
    drawn: list[int] = made.ids.tolist()
    at = partial(reference, ids=drawn)

    def vector(function: Any) -> Any:
        return None if function is None else lambda given, position: function(given, at(position))

    bias, content = inner.bias, inner.content_bias
    return Reference(
        embed=vector(inner.embed),
        rotate_query=vector(inner.rotate_query),
        rotate_key=vector(inner.rotate_key),
        bias=None if bias is None else lambda head, i, j: bias(head, at(i), at(j)),
        content_bias=None
        if content is None
        else lambda head, q, k, i, j: content(head, q, k, [at(p) for p in i], [at(p) for p in j]),
    )


class DrawsInEachHook(Wrapped):
    """Other ids at each call: queries and keys no longer agree, nor do a prompt and the tokens after it."""

    def __init__(self, inner: str) -> None:
        super().__init__(inner)
        self.calls = 0

    def ids(self, positions: Tensor) -> Tensor:
        assert isinstance(self.inner, RandomizedPositions)
        self.calls += 1
        self.inner.redraw(self.calls)
        return positions


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    sinusoid, rope, table = (f"randomized-{name}" for name in ("sinusoidal", "rotary", "learned"))
    return [
        (DrawsInEachHook, sinusoid, {"one_token_at_a_time", "permutation_of_tokens"}),
        (DrawsInEachHook, rope, {"one_token_at_a_time", "permutation_of_tokens"}),
        (OffByOne, table, {"limit"}),
        (ClampedAtTheEnd, rope, {"limit"}),
        (FirstRowForAll, sinusoid, {"rows_of_the_batch"}),
        (SignFlipped, table, set()),
    ]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_ids_are_those_of_positions_randomized() -> None:
    encoding = RandomizedPositions(Rotary(8), max_length=20, span=100, seed=4)
    drawn = positions.randomized(20, 100, seeded(4))
    assert torch.equal(encoding.ids, drawn[0])
    places = torch.tensor([[0, 1, 19], [5, 2, 2]])
    assert torch.equal(encoding.mapped(places), drawn[0][places])
    q = normal(2, 3, 3, 8)
    assert torch.equal(encoding.rotate_query(q, places), Rotary(8).rotate_query(q, drawn[0][places]))


def test_the_whole_span_leaves_positions_as_they_are() -> None:
    encoding, places = RandomizedPositions(Sinusoidal(6), max_length=9, span=9), torch.arange(9)[None]
    x = normal(1, 9, 6)
    assert torch.equal(encoding.embed(x, places), Sinusoidal(6).embed(x, places))


def test_redrawing_changes_every_layer_at_once_and_comes_back_with_the_seed() -> None:
    encoding = RandomizedPositions(Rotary(8), max_length=12, span=300, seed=1)
    model = Decoder(ModelOptions(30, dim=32, num_layers=3, num_heads=4), encoding=encoding).eval()
    redraw(model, std=0.3)
    ids = token_ids(2, 12, vocabulary=30)
    first = model(ids)
    encoding.redraw(2)
    assert encoding.options["seed"] == 2
    second = model(ids)
    assert (first - second).abs().max() > 1e-3
    layers = [layer.encoding for layer in model.modules() if isinstance(layer, Attention)]
    assert len(layers) == 3
    assert all(layer is encoding for layer in layers)
    encoding.redraw(1)
    assert torch.equal(model(ids), first)


def test_redrawing_for_another_length_spreads_it_over_the_whole_span() -> None:
    encoding = RandomizedPositions(Rotary(8), max_length=500, span=2000)
    assert encoding.ids[9] < 200  # ten tokens, with a choice for 500, would never see the far ids
    encoding.redraw(seed=1, max_length=10)
    assert encoding.max_length == 10
    assert encoding.ids[9] > 1000
    with pytest.raises(PositionError, match=r"Position 10 is outside this choice of random ids: .* 0 to 9 .*redraw"):
        encoding.rotate_query(normal(1, 1, 1, 8), torch.tensor([[10]]))
    encoding.redraw(seed=7)
    assert encoding.max_length == 10


def test_drawing_leaves_torchs_own_generator_alone() -> None:
    torch.manual_seed(0)
    state = torch.get_rng_state()
    RandomizedPositions(Rotary(8), max_length=12, span=300).redraw(3)
    assert torch.equal(torch.get_rng_state(), state)


INNER: dict[str, Callable[[], PositionEncoding]] = {
    "rotary": lambda: Rotary(8),
    "alibi": lambda: ALiBi(4),
    "transformer_xl": lambda: TransformerXL(4, 8, dim=32),
    "dynamic": lambda: Rotary(8, frequencies=DynamicNTK(4.0, 16, 50.0)),
}


@pytest.mark.parametrize("name", INNER)
@torch.no_grad()
def test_decoding_through_a_cache_equals_one_pass_under_left_padding(name: str) -> None:
    encoding = RandomizedPositions(INNER[name](), max_length=9, span=90, seed=2)
    layer = Attention(32, num_heads=4, encoding=encoding, causal=True)
    redraw(layer, std=0.3)
    x, real = normal(2, 9, 32), torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1], [1] * 9])
    place, mask = positions.from_mask(real), AttentionMask.of(real)
    whole, cache = layer(x, place, mask), LayerCache()
    steps = [
        layer(x[:, part], place[:, part], AttentionMask.of(real[:, part]), cache)
        for part in (slice(0, 4), slice(4, 5), slice(5, 9))
    ]
    shown = real.bool()
    torch.testing.assert_close(torch.cat(steps, dim=1)[shown], whole[shown], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_attention_at_counted_positions_is_the_inner_one_at_the_drawn_ids() -> None:
    for make in INNER.values():
        inner, place = make(), torch.arange(9)[None]
        redraw(inner)
        encoding = RandomizedPositions(inner, max_length=9, span=90, seed=2)
        layer = Attention(32, num_heads=4, encoding=encoding, causal=True)
        redraw(layer.query, std=0.3)
        other = Attention(32, num_heads=4, encoding=inner, causal=True)
        for part in ("query", "key", "value", "output"):
            getattr(other, part).load_state_dict(getattr(layer, part).state_dict())
        x = normal(2, 9, 32)
        torch.testing.assert_close(layer(x, place), other(x, encoding.ids[None]), atol=1e-5, rtol=1e-5)


def test_an_inner_encoding_that_must_know_what_is_hidden_is_told() -> None:
    inner = CoPE(2, 4)
    redraw(inner)
    encoding, place = RandomizedPositions(inner, max_length=6, span=50), torch.arange(6)[None]
    assert encoding.needs_visible
    assert encoding.causal_only
    q, k = normal(1, 2, 6, 4), normal(1, 2, 6, 4).flip(2)
    visible = torch.ones(6, 6, dtype=torch.bool).tril()[None, None].clone()
    visible[..., 1] = False
    expected = inner.content_bias(q, k, encoding.ids[None], encoding.ids[None], visible)
    told, untold = (encoding.content_bias(q, k, place, place, seen) for seen in (visible, None))
    assert expected is not None
    assert told is not None
    assert untold is not None
    assert torch.equal(told, expected)
    assert not torch.equal(untold, expected)


@pytest.mark.parametrize(
    ("inner", "promises"),
    [
        (Rotary(8), {"norm_preserving"}),
        (Learned(50, 8), {"learned"}),
        (T5Bias(2, direction="causal"), {"learned", "causal_only"}),
        (ALiBi(2), set()),
        (Rotary(8, frequencies=DYNAMIC), {"norm_preserving", "length_dependent"}),
    ],
    ids=["rotary", "learned", "t5", "alibi", "dynamic"],
)
def test_promises_are_those_of_the_inner_encoding_but_not_relative(inner: PositionEncoding, promises: set[str]) -> None:
    made = RandomizedPositions(inner, max_length=7, span=50)
    names = ("relative", "norm_preserving", "learned", "causal_only", "length_dependent", "needs_visible")
    assert {name for name in names if getattr(made, name)} == promises
    assert made.max_length == 7


def test_the_dict_form_and_json_build_an_equal_encoding() -> None:
    options = {"encoding": "rotary", "head_dim": 8, "frequencies": {"kind": "linear", "factor": 2.0}}
    made = RandomizedPositions(options, max_length=7, span=50, seed=9)
    assert isinstance(made.inner, Rotary)
    again = RandomizedPositions(made.inner, max_length=7, span=50, seed=9)
    assert made.to_json() == again.to_json()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RandomizedPositions(NoPE(), max_length=4, span=9), "one axis that uses positions, got NoPE"),
        (lambda: RandomizedPositions(AxialRotary(8), max_length=4, span=9), "one axis that uses positions, got Axial"),
        (lambda: RandomizedPositions(Learned(8, 4), max_length=4, span=9), r"0 to 8 \(span=9\), .* max_length=8"),
        (lambda: RandomizedPositions(Rotary(8), max_length=10, span=9), "between 1 and 9 .* got length=10"),
        (lambda: RandomizedPositions(Rotary(8), max_length=4, span=0), "span of ids to draw from is at least 1, got 0"),
        (lambda: RandomizedPositions({"head_dim": 8}, max_length=4, span=9), "or {'encoding': name, "),
        (lambda: RandomizedPositions("rotary", max_length=4, span=9), "got 'rotary'"),  # type: ignore[arg-type]
        (lambda: RandomizedPositions({"encoding": "rope"}, max_length=4, span=9), "Did you mean 'rotary'"),
    ],
)
def test_what_cannot_be_wrapped_is_an_error(build: Callable[[], object], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        build()


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph_that_sees_each_redraw() -> None:
    encoding = RandomizedPositions(Rotary(8), max_length=6, span=90)
    q, place = normal(1, 2, 6, 8), torch.arange(6)[None]
    traced = torch.compile(encoding.rotate_query, fullgraph=True, backend="eager")
    for seed in (0, 1, 2):
        encoding.redraw(seed)
        torch.testing.assert_close(traced(q, place), encoding.rotate_query(q, place))
