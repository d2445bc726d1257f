"""Keys turned again equal keys that the new rotation turned from the start."""

import cmath
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gnomon.attention import rerotate_keys
from gnomon.encodings import NoPE, Rotary, rotary
from gnomon.encodings.frequencies import DynamicNTK, DynamicYaRN, Frequencies, Linear, LongRoPE, Plain, YaRN
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.kernels.rotation import Layout
from tests.helpers.weights import normal

WIDTH, TURNED = 10, 6
PLACES = torch.tensor([[0, 1, 2, 63, 64, 65, 700], [5, 6, 90, 91, 1000, 99_999, 1_000_000]])
LONGROPE = LongRoPE([1.0, 1.1, 1.5], [1.2, 3.0, 9.0], 64, base=500.0, attention_factor=[1.0, 1.3])


def encoding(frequencies: Frequencies, layout: Layout = "half") -> Rotary:
    return Rotary(WIDTH, rotary_dim=TURNED, layout=layout, frequencies=frequencies)


SWITCHES: dict[str, Callable[[Layout], tuple[Rotary, Rotary]]] = {
    "base": lambda layout: (encoding(Plain(500.0), layout), encoding(Plain(1e4), layout)),
    "attention factor": lambda layout: (encoding(Linear(4.0), layout), encoding(YaRN(4.0, 64, base=500.0), layout)),
    "longrope": lambda layout: (encoding(LONGROPE, layout).at_length(64), encoding(LONGROPE, layout).at_length(65)),
    "rows": lambda layout: (
        encoding(DynamicYaRN(64, base=500.0), layout).at_length(torch.tensor([60, 2000])),
        encoding(DynamicYaRN(64, base=500.0), layout).at_length(torch.tensor([70, 3000])),
    ),
    "unbound": lambda layout: (encoding(DynamicNTK(4.0, 64), layout), encoding(DynamicNTK(2.0, 64), layout)),
}


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("moved", [None, PLACES.flip(-1), (PLACES - 7).clamp(min=0)], ids=["stay", "mixed", "shifted"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 2e-15), (torch.float32, 6e-7)])
def test_they_equal_keys_rotated_from_scratch(
    layout: Layout, switch: str, moved: Tensor | None, dtype: torch.dtype, tolerance: float
) -> None:
    (old, new), raw = SWITCHES[switch](layout), normal(2, 3, 7, WIDTH).to(dtype)
    again = rerotate_keys(old.rotate_key(raw, PLACES), PLACES, old, new, new_positions=moved)
    want = new.rotate_key(raw, PLACES if moved is None else moved)
    assert again.dtype == dtype
    torch.testing.assert_close(again, want, atol=tolerance * want.abs().max().item(), rtol=0)
    assert (old.rotate_key(raw, PLACES) - want).abs().max() > 0.5


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_they_equal_the_scalar_formula(layout: Layout) -> None:
    """Each pair, as a complex number, times f_new / f_old exp(i (n w_new - m w_old)); the columns past them stay."""
    old = encoding(LONGROPE, layout).at_length(64)
    new = encoding(LONGROPE, layout).at_length(65)
    k, moved = normal(1, 1, 1, WIDTH).double(), 11
    for position in (3, 64, 1_000_000):
        again = rerotate_keys(k, torch.tensor([[position]]), old, new, new_positions=torch.tensor([[moved]])).flatten()
        expected = k.flatten().tolist()
        for i, (slow, fast) in enumerate(zip(LONGROPE.long, LONGROPE.short, strict=True)):
            a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + TURNED // 2)
            w = math.pow(500.0, -2 * i / TURNED)
            turn = 1.3 * cmath.exp(1j * math.remainder(moved * w / slow - position * w / fast, 2 * math.pi))
            expected[a], expected[b] = (z := complex(expected[a], expected[b]) * turn).real, z.imag
        assert again.tolist() == pytest.approx(expected, abs=4e-15 + 2.0**-52 * position)


def test_cached_keys_close_up_when_those_before_them_are_dropped() -> None:
    """StreamingLLM: four first tokens stay, the next five go; scores are those of tokens that never had a gap."""
    turn, raw, q = encoding(Plain(500.0)), normal(1, 2, 20, WIDTH), normal(1, 2, 1, WIDTH, seed=3)
    kept = torch.tensor([*range(4), *range(9, 20)])
    cached = turn.rotate_key(raw, torch.arange(20)[None])[:, :, kept]
    closed = rerotate_keys(cached, kept[None], turn, turn, new_positions=torch.arange(15)[None])
    place = torch.tensor([[15]])
    expected = [
        sum(
            a * b
            for a, b in zip(
                rotary.reference(q[0, 0, 0].tolist(), 15, list(turn.inverse_frequencies), "half"),
                rotary.reference(raw[0, 0, slot].tolist(), index, list(turn.inverse_frequencies), "half"),
                strict=True,
            )
        )
        for index, slot in enumerate(kept.tolist())
    ]
    scores = turn.rotate_query(q, place) @ closed.mT
    assert scores[0, 0, 0].tolist() == pytest.approx(expected, abs=2e-5)


def test_there_and_back_is_where_it_began_and_nothing_is_changed_in_place() -> None:
    old, new = SWITCHES["longrope"]("half")
    k = normal(2, 3, 7, WIDTH)
    before = k.clone()
    back = rerotate_keys(rerotate_keys(k, PLACES, old, new), PLACES, new, old)
    torch.testing.assert_close(back, k, atol=2e-6, rtol=0)
    assert torch.equal(k, before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_adds_one_rounding_to_what_the_cache_lost(dtype: torch.dtype) -> None:
    old, new = SWITCHES["rows"]("half")
    raw, unit = normal(2, 3, 7, WIDTH).double(), torch.finfo(dtype).eps / 2
    cached = old.rotate_key(raw, PLACES).to(dtype)
    again = rerotate_keys(cached, PLACES, old, new)
    assert again.dtype == dtype
    exact = rerotate_keys(cached.double(), PLACES, old, new)
    assert ((again.double() - exact).abs() <= unit * exact.abs() + 1e-6).all()
    largest = raw.abs().max().item()
    lost = (again.double() - new.rotate_key(raw, PLACES)).abs().max().item()
    assert unit / 2 * largest < lost < 5 * unit * largest


def test_gradients_reach_the_keys() -> None:
    old, new = SWITCHES["attention factor"]("interleaved")
    k = normal(2, 1, 7, WIDTH).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rerotate_keys(x, PLACES, old, new), (k,))


def test_one_row_of_positions_serves_all_rows_also_where_these_have_lengths_of_their_own() -> None:
    old, new = SWITCHES["rows"]("half")
    k = normal(2, 3, 7, WIDTH)
    one = rerotate_keys(k, PLACES[:1], old, new)
    torch.testing.assert_close(one, rerotate_keys(k, PLACES[:1].expand(2, -1), old, new), atol=0, rtol=0)
    assert (one[1] - rerotate_keys(k[[1, 1]], PLACES[:1], old, new)[0]).abs().max() > 0.1


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (Rotary(12, rotary_dim=TURNED), "head_dim of the old rotation is 10 and of the new one 12"),
        (Rotary(WIDTH, rotary_dim=4), "rotary_dim of the old rotation is 6 and of the new one 4"),
        (Rotary(WIDTH, rotary_dim=TURNED, layout="interleaved"), "layout of the old rotation is 'half' and of the new"),
    ],
)
def test_rotations_of_other_pairs_are_refused(new: Rotary, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        rerotate_keys(normal(2, 3, 7, WIDTH), PLACES, encoding(Plain()), new)


@pytest.mark.usefixtures("unchecked")
def test_keys_and_positions_that_do_not_fit_are_refused() -> None:
    turn = encoding(Plain())
    with pytest.raises(ShapeError, match="keys are 9 wide but the rotary encodings are for 10"):
        rerotate_keys(normal(2, 3, 7, 9), PLACES, turn, turn)
    for wrong in (PLACES[:, :6], PLACES[[0, 1, 1]], PLACES[0]):
        with pytest.raises(ShapeError, match=r"the keys \(batch, length\) = \(2, 7\); pass one for each key"):
            rerotate_keys(normal(2, 3, 7, WIDTH), PLACES, turn, turn, new_positions=wrong)
    with pytest.raises(PositionError, match=r"must be int64, got torch\.float32"):
        rerotate_keys(normal(2, 3, 7, WIDTH), PLACES.float(), turn, turn)


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_rotary_encoding_is_refused() -> None:
    k, place = torch.ones(1, 2, 3, 8), torch.arange(3)[None]
    with pytest.raises(GnomonError, match="from one Rotary to another, got NoPE"):
        rerotate_keys(k, place, Rotary(8), NoPE())  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"got \(3, 8\)"):
        rerotate_keys(k[0, 0], place, Rotary(8), Rotary(8))
