"""Encodings that keep cosines between calls: exact anywhere, never those of other positions, options or dtypes."""

import copy
import math
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.encodings import AxialRotary, MRoPE, PositionEncoding, Rotary, Sinusoidal, SinusoidalGrid, XPos
from gnomon.encodings.frequencies import Plain, YaRN
from gnomon.kernels.half_table import FREE_ROWS
from gnomon.kernels.tables import cos_sin_of
from gnomon.models import Decoder, ModelOptions
from tests.helpers.weights import normal

EXACT = 6e-8  # half a unit in the last place of float32, and what the product loses in float64 far out

ROTATING: dict[str, Callable[[], PositionEncoding]] = {
    "rotary": lambda: Rotary(8),
    "rotary-interleaved": lambda: Rotary(8, rotary_dim=6, layout="interleaved"),
    "xpos": lambda: XPos(8),
    "mrope": lambda: MRoPE(8, sections=(2, 1, 1)),
    "axial": lambda: AxialRotary(8),
    "axial-slices": lambda: AxialRotary(8, arrangement="slices"),
}


def places(encoding: PositionEncoding, *numbers: int) -> Tensor:
    """(1, S) positions, or (1, S, axes) with other coordinates on each axis."""
    along = torch.tensor([numbers])
    return along if encoding.axes == 1 else torch.stack([along + axis for axis in range(encoding.axes)], dim=-1)


def wave(positions: Tensor, inverse: tuple[float, ...], turn: Callable[[float], float]) -> Tensor:
    rows = [[turn(p * w) for w in inverse] for p in positions.flatten().tolist()]
    return torch.tensor(rows, dtype=torch.float64).view(*positions.shape, len(inverse))


@pytest.mark.parametrize("positions", [(0, 1, 255, 256, 70_000), (10_000_000, 9_999_999), (-3, 2**33)])
def test_cosines_of_rotations_are_exact(positions: tuple[int, ...]) -> None:
    at = torch.tensor([positions])
    rotary = Rotary(16, frequencies=YaRN(4.0, 64))
    cos, sin = rotary.cos_sin(at)
    factor = rotary.attention_factor
    assert (cos - factor * wave(at, rotary.inverse_frequencies, math.cos)).abs().max() < factor * EXACT
    assert (sin - factor * wave(at, rotary.inverse_frequencies, math.sin)).abs().max() < factor * EXACT
    for encoding in (MRoPE(8, sections=(2, 1, 1)), AxialRotary(8)):
        same = at[..., None].expand(*at.shape, encoding.axes)  # all coordinates alike: one axis decides
        found, _ = encoding.cos_sin(same)
        assert (found - wave(at, encoding.inverse_frequencies, math.cos)).abs().max() < EXACT


@pytest.mark.parametrize("positions", [(0, 1, 255, 300), (FREE_ROWS + 5, 3), (10_000_000, 1)])
def test_a_unit_vector_shows_the_cosines_that_the_kernel_gathers(positions: tuple[int, ...]) -> None:
    rotary, at = Rotary(8), torch.tensor([positions])
    unit = torch.cat((torch.ones(1, 2, len(positions), 4), torch.zeros(1, 2, len(positions), 4)), dim=-1)
    turned = rotary.rotate_query(unit, at)
    want = torch.cat([wave(at, rotary.inverse_frequencies, turn) for turn in (math.cos, math.sin)], dim=-1)
    assert (turned - want[:, None]).abs().max() < EXACT


@pytest.mark.parametrize("scale", ["none", "sqrt_dim"])
def test_sinusoids_are_exact(scale: str) -> None:
    encoding: Any = Sinusoidal(8, scale=scale)  # type: ignore[arg-type]
    grid = SinusoidalGrid(8)
    for positions in ((0, 300, 5), (10_000_000, 3)):
        at = torch.tensor([positions])
        divisor = math.sqrt(8) if scale == "sqrt_dim" else 1.0
        want = torch.stack([wave(at, encoding.inverse_frequencies, turn) for turn in (math.sin, math.cos)], dim=-1)
        assert (encoding.table(at) - want.flatten(-2) / divisor).abs().max() < EXACT
        along = torch.stack((at, at), dim=-1)
        waves = [wave(at, (1.0, 0.01), turn) for turn in (math.sin, math.cos)] * 2
        assert (grid.table(along) - torch.cat(waves, dim=-1)).abs().max() < EXACT


@pytest.mark.parametrize("name", ROTATING)
def test_both_in_one_call_are_each_alone(name: str) -> None:
    encoding = ROTATING[name]()
    q, k = normal(1, 4, 3, 8, seed=1), normal(1, 2, 3, 8, seed=2)
    at = places(encoding, 4, 9, 300)
    turned_q, turned_k = encoding.rotate(q, k, at)
    assert torch.equal(turned_q, encoding.rotate_query(q, at))
    assert torch.equal(turned_k, encoding.rotate_key(k, at))


@pytest.mark.parametrize("name", ROTATING)
def test_positions_changed_in_place_turn_by_their_new_values(name: str) -> None:
    encoding, x = ROTATING[name](), normal(1, 2, 3, 8)
    at = places(encoding, 4, 9, 30)
    encoding.rotate(x, x, at)
    for change in (lambda: at.add_(7), lambda: at.numpy().__iadd__(5), lambda: at[:, 1:].zero_()):
        change()
        assert torch.equal(encoding.rotate_query(x, at), ROTATING[name]().rotate_query(x, at.clone()))


@pytest.mark.parametrize("name", ROTATING)
def test_dtypes_do_not_mix(name: str) -> None:
    encoding, x = ROTATING[name](), normal(1, 2, 3, 8)
    at = places(encoding, 4, 9, 30)
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float64):
        turned = encoding.rotate_query(x.to(dtype), at)
        assert turned.dtype == dtype
        assert torch.equal(turned, ROTATING[name]().rotate_query(x.to(dtype), at))


def test_two_encodings_do_not_share_what_they_keep_for_one_tensor_of_positions() -> None:
    x, at = normal(1, 2, 3, 8), torch.tensor([[3, 70_001, 5]])
    for positions in (at[:, :1].clone(), at):
        slow, fast = Rotary(8, frequencies=Plain(1e6)), Rotary(8)
        first = slow.rotate_query(x[:, :, : positions.shape[1]], positions)
        other = fast.rotate_query(x[:, :, : positions.shape[1]], positions)
        assert torch.equal(slow.rotate_query(x[:, :, : positions.shape[1]], positions), first)
        assert not torch.allclose(first, other)


def test_a_decoded_token_far_out_takes_no_table() -> None:
    rotary, x = Rotary(8), normal(1, 2, 1, 8)
    for position in (1_000_000_000, -1_000_000_000, 2**20):
        rotary.rotate(x, x, torch.tensor([[position]]))
    assert rotary._table.length == 256
    rotary.rotate(x, x, torch.tensor([[1000]]))
    assert rotary._table.length == 1024


@pytest.mark.parametrize("name", ROTATING)
def test_use_in_inference_mode_leaves_training_as_it_was(name: str) -> None:
    encoding, at = ROTATING[name](), places(ROTATING[name](), 4, 9, 30)
    with torch.inference_mode():
        encoding.rotate(normal(1, 2, 3, 8), normal(1, 2, 3, 8), at)
    gradients = []
    for each in (encoding, ROTATING[name]()):
        q, k = (normal(1, 2, 3, 8, seed=seed).requires_grad_() for seed in (1, 2))
        turned = each.rotate(q, k, at)
        (turned[0] * normal(1, 2, 3, 8, seed=3) + turned[1] * normal(1, 2, 3, 8, seed=4)).sum().backward()
        gradients += [q.grad, k.grad]
    used, new = gradients[:2], gradients[2:]
    assert all(a is not None and b is not None and torch.equal(a, b) for a, b in zip(used, new, strict=True))


@pytest.mark.parametrize("name", ROTATING)
def test_copies_and_pickles_after_use_give_the_same_numbers_and_take_nothing_along(name: str) -> None:
    encoding, x = ROTATING[name](), normal(1, 2, 3, 8)
    small = len(pickle.dumps(encoding))
    at = places(encoding, 4, 9, 900)
    want = encoding.rotate_query(x, at)
    assert len(pickle.dumps(encoding)) == small
    for other in (copy.deepcopy(encoding), pickle.loads(pickle.dumps(encoding))):
        assert torch.equal(other.rotate_query(x, at), want)
    assert encoding.state_dict() == {}
    assert list(encoding.buffers()) == []


def test_the_layers_of_one_pass_compute_their_cosines_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counting(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return cos_sin_of(*arguments, **options)

    monkeypatch.setattr("gnomon.encodings.mrope.cos_sin_of", counting)
    options = ModelOptions(vocabulary=11, dim=32, num_layers=3, num_heads=4)
    model = Decoder(options, encoding=MRoPE(8, sections=(2, 1, 1)))
    for ids in (torch.arange(5)[None], torch.arange(7)[None]):
        model(ids, positions=torch.arange(ids.shape[1])[None, :, None].expand(1, -1, 3))
    assert len(calls) == 2


def test_rotation_under_a_transform_of_torch_func_is_that_of_each_row() -> None:
    rotary, x = Rotary(8), normal(3, 1, 2, 4, 8)
    at = torch.tensor([[[0, 1, 2, 3]], [[5, 6, 7, 9]], [[300, 2, 1, 0]]])
    together = torch.func.vmap(rotary.rotate_query)(x, at)
    for row in range(3):
        torch.testing.assert_close(together[row], rotary.rotate_query(x[row], at[row]), rtol=0, atol=5e-7)


def test_the_meta_device_gives_shapes() -> None:
    x, at = torch.empty(1, 2, 3, 8, device="meta"), torch.empty(1, 3, dtype=torch.int64, device="meta")
    q, k = Rotary(8).rotate(x, x, at)
    assert q.is_meta
    assert q.shape == k.shape == (1, 2, 3, 8)


def test_threads_may_share_an_encoding() -> None:
    rotary, x, wrong = Rotary(8), normal(1, 2, 1, 8), []

    def turn(start: int) -> None:
        for position in range(start, 6000, 97):
            at = torch.tensor([[position]])
            if not torch.equal(rotary.rotate_query(x, at), Rotary(8).rotate_query(x, at)):
                wrong.append(position)

    threads = [threading.Thread(target=turn, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
