"""xPos: decay, one centre for queries and keys, what dtypes can hold, and the libraries that have it."""

from collections.abc import Iterator
from functools import partial

import pytest
import torch
from torch import Tensor

from gnomon.attention import Attention, LayerCache
from gnomon.encodings import Rotary, XPos
from gnomon.encodings.frequencies import DynamicNTK, Linear, Plain, YaRN
from gnomon.encodings.rotary import reference as rotary_reference
from gnomon.encodings.xpos import reference
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import AllZero, OffByOne, QueryOffByOne, Wrapped
from tests.helpers.mutated_precision import LowPrecision
from tests.helpers.peers import x_transformers
from tests.helpers.weights import normal, redraw

BATCH, HEADS, LENGTH, WIDTH = 2, 3, 40, 16


def cases() -> Iterator[Case]:
    for name, made in {
        "default": XPos(8),
        "start": XPos(8, layout="half", scale_base=128.0, centre=0, max_length=600),
        "partial": XPos(8, rotary_dim=6, frequencies=Linear(4.0, 500.0), centre=511, max_length=512),
    }.items():
        base, factor = (500.0, 4.0) if name == "partial" else (10000.0, 1.0)
        inverse = [base ** (-2 * i / made.rotary_dim) / factor for i in range(made.rotary_dim // 2)]
        scaled = {"inverse": inverse, "layout": made.layout, "scale_base": made.scale_base, "centre": made.centre}
        query, key = (partial(reference, side=side, **scaled) for side in ("query", "key"))  # type: ignore[arg-type]
        yield Case(f"xpos-{name}", made, Reference(rotate_query=query, rotate_key=key))


class CentredOnItsCall(Wrapped):
    """What the usual code does: half the length of each call is the centre."""

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.recentred(positions).rotate_query(x, positions)

    def rotate_key(self, k: Tensor, positions: Tensor) -> Tensor:
        return self.recentred(positions).rotate_key(k, positions)

    def recentred(self, positions: Tensor) -> XPos:
        return XPos(**{**self.inner.options, "centre": positions.shape[1] // 2})


class SameScaleForKeys(Wrapped):
    def rotate_key(self, k: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(k, positions)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (CentredOnItsCall, "xpos-default", {"one_token_at_a_time"}),
        (SameScaleForKeys, "xpos-start", {"shift_invariance"}),
        (OffByOne, "xpos-partial", {"limit"}),
        (QueryOffByOne, "xpos-default", {"limit"}),
        (AllZero, "xpos-start", {"uses_position"}),
        (LowPrecision, "xpos-default", set()),
    ]


def scores(encoding: XPos | Rotary, q: Tensor, k: Tensor, places: Tensor) -> Tensor:
    return encoding.rotate_query(q, places) @ encoding.rotate_key(k, places).mT


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_equals_the_formula_in_float64_from_end_to_end(layout: str) -> None:
    encoding = XPos(10, rotary_dim=6, layout=layout)  # type: ignore[arg-type]
    places = torch.tensor([[0, 1, 2047, 2048, 4095], [7, 3000, 512, 1024, 2049]])
    x = normal(BATCH, 1, 5, 10).double()
    inverse = [10000 ** (-i / 3) for i in range(3)]
    for side, turned in (("query", encoding.rotate_query(x, places)), ("key", encoding.rotate_key(x, places))):
        for row, token in ((row, token) for row in range(BATCH) for token in range(5)):
            want = reference(
                x[row, 0, token].tolist(),
                int(places[row, token]),
                side=side,
                inverse=inverse,
                layout=layout,
                centre=2048,
            )
            assert turned[row, 0, token].tolist() == pytest.approx(want, rel=1e-11, abs=1e-12)


def test_a_score_is_that_of_rotary_times_the_decay_of_each_pair() -> None:
    q, k = normal(1, 1, 1, 2), normal(1, 1, 1, 2).flip(-1)
    encoding, plain = XPos(2, scale_base=100.0), Rotary(2, layout="interleaved")
    zeta = 0.4 / 1.4
    for m, n in ((1500, 1400), (1500, 1500), (3, 0)):
        query, key = torch.tensor([[m]]), torch.tensor([[n]])
        decayed = (encoding.rotate_query(q, query) * encoding.rotate_key(k, key)).sum()
        rotated = (plain.rotate_query(q, query) * plain.rotate_key(k, key)).sum()
        assert decayed.item() == pytest.approx(rotated.item() * zeta ** ((m - n) / 100), rel=1e-4)


def test_scores_do_not_depend_on_the_centre() -> None:
    q, k, places = (
        normal(BATCH, HEADS, LENGTH, WIDTH),
        normal(BATCH, HEADS, LENGTH, WIDTH, seed=2),
        torch.arange(LENGTH),
    )
    places = torch.stack((places, places * 25 + 3))
    want = scores(XPos(WIDTH), q.double(), k.double(), places)
    for centre in (0, 20, 4095):
        other = XPos(WIDTH, centre=centre)
        torch.testing.assert_close(scores(other, q.double(), k.double(), places), want, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("chunk", [1, 3])
def test_decoding_through_a_cache_equals_one_pass(chunk: int) -> None:
    layer = Attention(32, num_heads=4, num_key_heads=2, encoding=XPos(8, scale_base=32.0, max_length=200), causal=True)
    redraw(layer)
    x, places, cache = normal(BATCH, 17, 32), torch.stack((torch.arange(17), torch.arange(17) + 150)), LayerCache()
    parts = [layer(x[:, i : i + chunk], places[:, i : i + chunk], cache=cache) for i in range(0, 17, chunk)]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, places), atol=1e-5, rtol=0)


@pytest.mark.parametrize("centre", [LENGTH // 2, 0])
def test_scores_are_those_of_rotary_embedding_torch(centre: int) -> None:
    from rotary_embedding_torch import RotaryEmbedding

    q, k = normal(BATCH, HEADS, LENGTH, WIDTH + 3), normal(BATCH, HEADS, LENGTH, WIDTH + 3, seed=2)
    theirs = RotaryEmbedding(WIDTH, use_xpos=True, xpos_scale_base=64).rotate_queries_and_keys(q, k)
    ours = XPos(WIDTH + 3, rotary_dim=WIDTH, scale_base=64.0, centre=centre)
    places = torch.arange(LENGTH)[None]
    torch.testing.assert_close(scores(ours, q, k, places), (theirs[0] @ theirs[1].mT).detach(), atol=5e-5, rtol=1e-4)
    if centre:  # theirs is half the length, so the vectors are equal too
        torch.testing.assert_close(ours.rotate_key(k, places), theirs[1].detach(), atol=2e-5, rtol=1e-5)


def test_decoding_with_rotary_embedding_torch_differs_from_its_one_pass_and_ours_does_not() -> None:
    """Its centre is half of the length of each argument, one for the query and another for the keys (issue 27)."""
    from rotary_embedding_torch import RotaryEmbedding

    q, k, places = normal(1, HEADS, 512, WIDTH), normal(1, HEADS, 512, WIDTH, seed=2), torch.arange(512)[None]
    module = RotaryEmbedding(WIDTH, use_xpos=True, cache_if_possible=False)
    whole_q, whole_k = module.rotate_queries_and_keys(q, k)
    step_q, step_k = module.rotate_queries_with_cached_keys(q[:, :, -1:], k)
    whole, step = (whole_q @ whole_k.mT)[:, :, -1:], step_q @ step_k.mT
    assert (whole - step).abs().max() > 0.1
    ours = XPos(WIDTH)
    alone = ours.rotate_query(q[:, :, -1:], places[:, -1:]) @ ours.rotate_key(k, places).mT
    torch.testing.assert_close(alone, scores(ours, q, k, places)[:, :, -1:], atol=1e-5, rtol=0)
    torch.testing.assert_close(alone, whole.detach(), atol=1e-4, rtol=0)


def test_scores_are_those_of_x_transformers() -> None:
    peer = x_transformers()
    q, k, places = (
        normal(BATCH, HEADS, LENGTH, WIDTH),
        normal(BATCH, HEADS, LENGTH, WIDTH, seed=2),
        torch.arange(LENGTH),
    )
    angles, scale = peer.RotaryEmbedding(WIDTH, use_xpos=True, scale_base=64).forward(places)
    theirs = peer.apply_rotary_pos_emb(q, angles, scale) @ peer.apply_rotary_pos_emb(k, angles, scale**-1).mT
    torch.testing.assert_close(scores(XPos(WIDTH, scale_base=64.0), q, k, places[None]), theirs, atol=5e-5, rtol=1e-4)


def test_the_reference_without_a_scale_is_that_of_rotary() -> None:
    """At the centre zeta^0 is 1, wherever the centre is."""
    vector, inverse = [0.3, -1.2, 2.0, 0.7], [1.0, 0.01]
    for side in ("query", "key"):
        got = reference(vector, 90, side=side, inverse=inverse, layout="half", centre=90)
        assert got == pytest.approx(rotary_reference(vector, 90, inverse, "half"))


def test_an_attention_factor_multiplies_queries_and_keys() -> None:
    rule, x, place = YaRN(4.0, 64), normal(1, 2, 3, 8), torch.tensor([[2, 90, 1000]])
    without = YaRN(4.0, 64, attention_factor=1.0)
    for name in ("rotate_query", "rotate_key"):
        got, plain = (getattr(XPos(8, frequencies=given), name)(x, place) for given in (rule, without))
        torch.testing.assert_close(got, plain * rule.attention_factor)


@pytest.mark.parametrize(
    ("dtype", "reach"), [(torch.float16, 2832), (torch.bfloat16, 34559), (torch.float32, 34561)], ids=str
)
def test_a_dtype_that_cannot_hold_the_ends_is_refused_and_one_position_less_works(
    dtype: torch.dtype, reach: int
) -> None:
    x = torch.full((1, 1, 2, 4), 45.0, dtype=dtype)
    fits = XPos(4, max_length=2 * reach)
    ends = torch.tensor([[0, 2 * reach - 1]])
    for turned in (fits.rotate_query(x, ends), fits.rotate_key(x, ends)):
        assert turned.isfinite().all()
    with pytest.raises(PositionError, match=rf"cannot hold .* up to {reach}: .* max_length={2 * reach} at most"):
        XPos(4, max_length=2 * reach + 2).rotate_key(x, ends)


def test_a_float16_vector_that_overflows_is_an_error_that_names_its_position() -> None:
    x = torch.ones(2, 1, 2, 4, dtype=torch.float16)
    encoding, places = XPos(4), torch.tensor([[2048, 2049], [2048, 4090]])
    assert encoding.rotate_key(x, places).isfinite().all()
    x[1, 0, 1] = 600.0
    with pytest.raises(PositionError, match="vector at position 4090 overflows when xPos scales it; use bfloat16"):
        encoding.rotate_key(x, places)
    assert encoding.rotate_key(x.bfloat16(), places).isfinite().all()
    given = torch.full((1, 1, 1, 4), torch.inf, dtype=torch.float16)  # not xPos' doing
    assert not encoding.rotate_key(given, places[:1, :1]).isfinite().any()


def test_positions_outside_are_errors() -> None:
    encoding, x = XPos(8, max_length=10), normal(1, 1, 2, 8)
    for outside in (10, -1):
        with pytest.raises(PositionError, match=rf"Position {outside} is outside this xPos .* 0 to 9 "):
            encoding.rotate_query(x, torch.tensor([[3, outside]]))


@pytest.mark.usefixtures("unchecked")
def test_impossible_options_are_errors() -> None:
    with pytest.raises(GnomonError, match=r"XPos takes frequencies that do not change with the length .* at_length"):
        XPos(8, frequencies=DynamicNTK(2.0, 64))
    with pytest.raises(GnomonError, match="scale_base of XPos must be a finite number above 0, got 0"):
        XPos(8, scale_base=0)
    with pytest.raises(GnomonError, match="at least 1 position, got max_length=0"):
        XPos(8, max_length=0)
    with pytest.raises(GnomonError, match="a position, 0 to 9, got 10"):
        XPos(8, max_length=10, centre=10)
    with pytest.raises(GnomonError, match="one of half, interleaved, got 'neox'"):
        XPos(8, layout="neox")  # type: ignore[arg-type]
    with pytest.raises(GnomonError, match="causal mask only"):
        Attention(16, num_heads=2, encoding=XPos(8), causal=False)
    with pytest.raises(ShapeError, match="The heads are 8 wide but the rotary encoding is for 16"):
        XPos(16).rotate_query(normal(1, 1, 2, 8), torch.arange(2)[None])


def test_frequencies_are_those_of_rotary() -> None:
    rule = Linear(4.0, 500.0)
    assert XPos(8, frequencies=rule.to_dict()).frequencies == rule
    assert XPos(8).frequencies == Plain(10000.0)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, x, places = XPos(8), normal(2, 3, 4, 8), torch.arange(4)[None] + 3
    for dtype in (torch.float32, torch.float16):
        given = x.to(dtype)
        traced = torch.compile(encoding.rotate_key, fullgraph=True, backend="eager")(given, places)
        torch.testing.assert_close(traced, encoding.rotate_key(given, places))
