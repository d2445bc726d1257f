"""T5's bias: buckets against published numbers and transformers, the table, its gradient, and impossible sizes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import T5Config
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.umt5.modeling_umt5 import UMT5Attention

from gnomon.attention import Attention
from gnomon.encodings import T5Bias
from gnomon.encodings.t5 import Direction, reference_bucket
from gnomon.errors import GnomonError
from tests.helpers.peers import x_transformers
from tests.helpers.weights import redraw

DIRECTIONS: tuple[Direction, ...] = ("both", "causal")
SIZES = [(32, 128), (32, 256), (64, 128), (16, 64), (8, 20), (6, 7), (128, 1000), (320, 800)]


def bucket(offset: int, direction: Direction) -> int:
    """The bucket of key position - query position at T5's own sizes."""
    at = 500 + torch.tensor([[0], [offset]])
    return int(T5Bias(1, direction=direction).buckets(at[:1], at[1:]).item())


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("both", {-128: 15, -64: 14, -16: 10, -8: 8, -1: 1, 0: 0, 1: 17, 8: 24, 64: 30, 128: 31}),
        ("both", {-200: 15, -20: 10, -8: 8, -7: 7, -1: 1, 0: 0, 1: 17, 7: 23, 8: 24, 20: 26, 200: 31}),
        ("causal", {-113: 31, -64: 26, -32: 21, -16: 16}),
        ("causal", {-200: 31, -20: 17, -8: 8, -7: 7, -1: 1, 0: 0, 1: 0, 7: 0, 8: 0, 20: 0, 200: 0}),
    ],
)
def test_golden_buckets(direction: Direction, expected: dict[int, int]) -> None:
    assert {offset: bucket(offset, direction) for offset in expected} == expected
    assert {offset: reference_bucket(offset, 32, 128, direction) for offset in expected} == expected


@pytest.mark.parametrize(("buckets", "most"), SIZES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_buckets_are_those_of_transformers_and_of_the_formula(direction: Direction, buckets: int, most: int) -> None:
    place = torch.cat((torch.arange(0, 2 * most, 3), torch.tensor([10**6])))[None]
    ours = T5Bias(1, num_buckets=buckets, max_distance=most, direction=direction).buckets(place, place)[0]
    offset = place - place.T
    size = {"num_buckets": buckets, "max_distance": most}
    theirs = T5Attention._relative_position_bucket(offset, bidirectional=direction == "both", **size)
    assert torch.equal(ours, theirs)
    for row in range(0, len(ours), 7):
        formula = [reference_bucket(value, buckets, most, direction) for value in offset[row].tolist()]
        assert ours[row].tolist() == formula


def test_buckets_are_those_of_mpnet() -> None:
    place = torch.arange(300)[None]
    theirs = MPNetEncoder.relative_position_bucket(place - place.T, num_buckets=32)
    assert torch.equal(T5Bias(1).buckets(place, place)[0], theirs)


@pytest.mark.parametrize(
    ("buckets", "most", "distance", "step"),
    [(32, 128, 32, None), (9, 128, 16, 2), (9, 128, 64, 4), (54, 125, 75, 18), (51, 49, 35, 13), (46, 164, 107, None)],
)
def test_a_bucket_begins_where_whole_numbers_say_so(buckets: int, most: int, distance: int, step: int | None) -> None:
    """Where the power is met exactly a rounded logarithm may miss it; that of transformers does for some sizes."""
    first, steps = buckets // 2, buckets - buckets // 2
    met = [k for k in range(steps) if distance**steps >= first ** (steps - k) * most**k]
    exact = distance**steps == first ** (steps - met[-1]) * most ** met[-1]
    assert exact == (step is not None)
    assert step in (None, met[-1])
    encoding = T5Bias(1, num_buckets=buckets, max_distance=most, direction="causal")
    assert encoding.buckets(torch.tensor([[distance]]), torch.tensor([[0]])).item() == first + met[-1]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_no_dtype_of_the_table_moves_a_bucket(dtype: torch.dtype) -> None:
    """Distances above 256 are not whole in bfloat16."""
    encoding, place = T5Bias(1, num_buckets=320, max_distance=3000), torch.arange(0, 3000, 7)[None]
    before = encoding.buckets(place, place)
    assert torch.equal(encoding.to(dtype).buckets(place, place), before)
    assert encoding.bias(place, place).dtype == torch.float32


@pytest.mark.parametrize("attention", [T5Attention, UMT5Attention])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("buckets", "most"), [(32, 128), (12, 40)])
def test_a_table_from_a_checkpoint_gives_the_bias_of_transformers(
    attention: type[T5Attention], direction: Direction, buckets: int, most: int
) -> None:
    config = T5Config(
        d_model=32,
        d_kv=8,
        num_heads=5,
        relative_attention_num_buckets=buckets,
        relative_attention_max_distance=most,
        is_decoder=direction == "causal",
    )
    theirs = attention(config, has_relative_attention_bias=True, layer_idx=0)
    redraw(theirs, std=1.0)
    ours = T5Bias(5, num_buckets=buckets, max_distance=most, direction=direction)
    ours.load_state_dict(theirs.relative_attention_bias.state_dict())
    place = torch.arange(150)[None]
    torch.testing.assert_close(ours.bias(place, place), theirs.compute_bias(150, 150), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        ours.bias(place[:, 97:], place), theirs.compute_bias(53, 150, past_seen_tokens=97), atol=1e-5, rtol=0
    )


def as_gnomon(theirs: T5Attention, encoding: T5Bias) -> Attention:
    """Our layer with the weights of theirs. T5 has no scale and no biases in its projections."""
    ours = Attention(32, num_heads=5, head_dim=8, encoding=encoding, causal=False, scale=1.0, projection_bias=False)
    with torch.no_grad():
        for mine, name in ((ours.query, "q"), (ours.key, "k"), (ours.value, "v"), (ours.output, "o")):
            mine.weight.copy_(theirs.get_submodule(name).weight)
    return ours


@pytest.mark.parametrize("shared", [True, False])
def test_one_table_for_all_layers_is_t5_and_one_for_each_is_umt5(shared: bool) -> None:
    config = T5Config(d_model=32, d_kv=8, num_heads=5, dropout_rate=0.0)
    kind = T5Attention if shared else UMT5Attention
    theirs = [kind(config, has_relative_attention_bias=i == 0 or not shared, layer_idx=i).eval() for i in range(2)]
    for seed, layer in enumerate(theirs):
        redraw(layer, std=0.12, seed=seed)
    tables = [T5Bias(5) for _ in range(1 if shared else 2)]
    for table, layer in zip(tables, theirs, strict=False):
        table.load_state_dict(layer.relative_attention_bias.state_dict())
    ours = [as_gnomon(layer, tables[0 if shared else i]) for i, layer in enumerate(theirs)]
    assert (ours[0].encoding is ours[1].encoding) == shared

    x, place = torch.randn(2, 20, 32, generator=torch.Generator().manual_seed(0)), torch.arange(20)[None]
    first, bias = theirs[0](x)[:2]
    want = theirs[1](first, position_bias=bias)[0] if shared else theirs[1](first)[0]
    got = ours[1](ours[0](x, place), place)
    torch.testing.assert_close(got, want, rtol=0, atol=2e-5)

    got.square().sum().backward()
    want.square().sum().backward()
    for table, layer in zip(tables, theirs, strict=False):
        torch.testing.assert_close(table.weight.grad, layer.relative_attention_bias.weight.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_bias_is_that_of_x_transformers_without_its_factor(direction: Direction) -> None:
    """It multiplies the table by `scale`, which its attention sets to sqrt(head_dim); T5 does not."""
    peer = x_transformers().RelativePositionBias
    theirs = peer(scale=8**0.5, causal=direction == "causal", num_buckets=32, max_distance=128, heads=5)
    redraw(theirs, std=1.0)
    ours, place = T5Bias(5, direction=direction), torch.arange(150)[None]
    ours.load_state_dict(theirs.relative_attention_bias.state_dict())
    for queries in (150, 53):
        want = theirs(queries, 150) / 8**0.5
        torch.testing.assert_close(ours.bias(place[:, -queries:], place)[0], want, rtol=0, atol=1e-6)


def test_queries_are_rows_keys_are_columns_and_every_batch_row_has_its_own() -> None:
    encoding = T5Bias(2)
    queries, keys = torch.tensor([[7, 3]]), torch.tensor([[1, 7, 4], [0, 2, 9]])
    bias = encoding.bias(queries, keys)
    assert bias.shape == (2, 2, 2, 3)
    for row in range(2):
        for i, query in enumerate([7, 3]):
            for j, key in enumerate(keys[row].tolist()):
                held = encoding.weight[reference_bucket(key - query, 32, 128, "both")]
                assert bias[row, :, i, j].tolist() == held.tolist()


@given(st.sampled_from(DIRECTIONS), st.integers(-(10**9), 10**9), st.integers(0, 10**9))
def test_far_out_every_offset_has_a_row_of_the_table(direction: Direction, offset: int, start: int) -> None:
    found = T5Bias(1, direction=direction).buckets(torch.tensor([[start]]), torch.tensor([[start + offset]]))
    assert found.item() == reference_bucket(offset, 32, 128, direction)


def test_the_gradient_of_a_bucket_is_the_sum_over_the_pairs_in_it() -> None:
    encoding, place = T5Bias(2, num_buckets=8, max_distance=10), torch.tensor([[0, 1, 5, 30]])
    weights = torch.randn(1, 2, 4, 4, generator=torch.Generator().manual_seed(0))
    (encoding.bias(place, place) * weights).sum().backward()
    expected = torch.zeros(8, 2)
    for i, query in enumerate(place[0].tolist()):
        for j, key in enumerate(place[0].tolist()):
            expected[reference_bucket(key - query, 8, 10, "both")] += weights[0, :, i, j]
    torch.testing.assert_close(encoding.weight.grad, expected)


def test_only_the_causal_direction_needs_a_causal_mask() -> None:
    assert T5Bias(1, direction="causal").causal_only
    assert not T5Bias(1).causal_only


def test_a_fresh_table_has_the_stated_spread() -> None:
    torch.manual_seed(0)
    assert T5Bias(256, num_buckets=256).weight.std().item() == pytest.approx(0.02, rel=0.02)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_heads": 0}, "at least 1 head, got num_heads=0"),
        ({"num_heads": 2, "direction": "left"}, "one of both, causal, got 'left'"),
        ({"num_heads": 2, "num_buckets": 33}, "even num_buckets of at least 4, got 33"),
        ({"num_heads": 2, "num_buckets": 2}, "even num_buckets of at least 4, got 2"),
        ({"num_heads": 2, "num_buckets": 1, "direction": "causal"}, "at least 2, got 1"),
        ({"num_heads": 2, "max_distance": 8}, "be at least 9, got 8"),
        ({"num_heads": 2, "max_distance": 16, "direction": "causal"}, "be at least 17, got 16"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, object], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        T5Bias(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("buckets", "direction"), [(4, "both"), (2, "causal"), (3, "causal")])
def test_the_fewest_buckets_and_the_shortest_distance_work(buckets: int, direction: Direction) -> None:
    encoding = T5Bias(1, num_buckets=buckets, max_distance=2, direction=direction)
    place = torch.arange(9)[None]
    formula = [[reference_bucket(j - i, buckets, 2, direction) for j in range(9)] for i in range(9)]
    assert encoding.buckets(place, place)[0].tolist() == formula


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_traces_into_one_graph(direction: Direction) -> None:
    encoding, place = T5Bias(3, direction=direction), torch.tensor([[2, 3, 90]])
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")(place, place)
    torch.testing.assert_close(traced, encoding.bias(place, place))
