"""In place and into given memory: refused, before anything is written, where a number would be lost."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotary.writing import apart
from tests.helpers.rotation_paths import preferring, runnable

PATHS = pytest.mark.parametrize("path", [None, *runnable()])
ANGLE = torch.arange(5)[:, None] * torch.tensor([1.0, 0.3])
ANGLES: dict[str, Any] = {"cos": ANGLE.cos(), "sin": ANGLE.sin(), "layout": "half"}


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def refused(q: Tensor, k: Tensor | None = None, *, words: str, **writing: Any) -> None:
    """The call raises and changes no tensor that it was given."""
    out = writing.get("out")
    tensors = [x for x in (q, k, *(out if isinstance(out, tuple) else (out,))) if x is not None]
    before = [x.detach().clone() for x in tensors]
    with pytest.raises(GnomonError, match=words):
        apply_rotary(q, k, **ANGLES, **writing)
    assert all(torch.equal(x, old) for x, old in zip(tensors, before, strict=True))


@PATHS
def test_what_autograd_records_is_not_overwritten(path: str | None) -> None:
    leaf = random(2, 3, 5, 4).requires_grad_()
    with preferring(path):
        for x in (leaf, leaf * 2, leaf[:1], leaf.transpose(0, 1)):
            refused(x, words="require grad while gradients are recorded", inplace=True)
            refused(x, words="require grad while", out=torch.zeros_like(x).detach())
            refused(random(*x.shape), x.detach(), words="require grad while", out=(x, random(*x.shape)))


@PATHS
def test_without_recording_a_leaf_may_be_overwritten(path: str | None) -> None:
    leaf = random(2, 3, 5, 4).requires_grad_()
    want = apply_rotary(leaf.detach(), **ANGLES)
    with preferring(path), torch.no_grad():
        assert apply_rotary(leaf, **ANGLES, inplace=True) is leaf
    torch.testing.assert_close(leaf.detach(), want)


@PATHS
def test_autograd_notices_that_what_it_kept_was_overwritten(path: str | None) -> None:
    weight = torch.ones(1, requires_grad=True)
    kept = random(1, 1, 5, 4)
    product = (weight * kept).sum()  # keeps `kept`
    with preferring(path), torch.no_grad():
        apply_rotary(kept, **ANGLES, inplace=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@PATHS
def test_memory_that_overlaps_itself_is_refused(path: str | None) -> None:
    with preferring(path):
        for x in (random(2, 1, 5, 4).expand(2, 3, 5, 4), random(24).as_strided((1, 2, 5, 4), (24, 10, 2, 1))):
            refused(x, words="overlaps itself", inplace=True)
            refused(random(*x.shape), words="overlaps itself", out=x)


@PATHS
def test_shared_memory_is_refused_unless_it_is_the_same_tensor(path: str | None) -> None:
    whole = random(1, 4, 5, 4)
    q, k = whole[:, :3], whole[:, 2:]
    fresh = random(1, 3, 5, 4)
    with preferring(path):
        refused(q, k, words="shares memory", inplace=True)
        refused(q, words="shares memory", out=whole[:, 1:])
        refused(q, fresh, words="shares memory", out=(fresh, random(1, 3, 5, 4)))
        refused(fresh, random(1, 3, 5, 4), words="shares memory", out=(q, whole[:, 1:]))
        want = apply_rotary(q.clone(), **ANGLES)
        assert apply_rotary(q, **ANGLES, out=q) is q
    torch.testing.assert_close(q, want)


def test_angles_in_the_memory_that_is_written_are_refused() -> None:
    q = random(1, 1, 5, 4)
    with pytest.raises(GnomonError, match="shares memory"):
        apply_rotary(q, cos=q[0, 0, :, :2], sin=q[0, 0, :, 2:], layout="half", inplace=True)


@PATHS
@pytest.mark.parametrize("fused", ["side by side", "by head", "stacked"])
def test_slices_of_one_projection_are_turned_in_place(path: str | None, fused: str) -> None:
    """q, k and v of one product: as [q q k k v v], as [q k v] for each head, and one after the other."""
    if fused == "stacked":
        q, k, v = random(3, 2, 2, 5, 4)
    elif fused == "by head":
        q, k, v = random(2, 5, 2, 3, 4).transpose(1, 2).unbind(3)
    else:
        q, k, v = (x.unflatten(-1, (2, 4)).transpose(1, 2) for x in random(2, 5, 24).chunk(3, -1))
    untouched, want = v.clone(), apply_rotary(q.clone(), k.clone(), **ANGLES)
    with preferring(path):
        apply_rotary(q, k, **ANGLES, inplace=True)
    torch.testing.assert_close((q, k), want)
    assert torch.equal(v, untouched)


@PATHS
def test_inference_tensors_are_written_in_inference_mode_only(path: str | None) -> None:
    with torch.inference_mode():
        q = random(1, 2, 5, 4)
        want = apply_rotary(q, **ANGLES)
        with preferring(path):
            apply_rotary(q, **ANGLES, inplace=True)
        torch.testing.assert_close(q, want)
    with preferring(path), pytest.raises(GnomonError, match="made in inference mode"):
        apply_rotary(q, **ANGLES, inplace=True)


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (torch.ones(1, 2, 5, 6), r"shape \(1, 2, 5, 4\), got \(1, 2, 5, 6\)"),
        (torch.ones(1, 2, 5, 4).double(), "must be torch.float32 on cpu as q is, got torch.float64 on cpu"),
        (torch.ones(1, 2, 5, 4, device="meta"), "got torch.float32 on meta"),
    ],
)
def test_memory_of_another_kind_is_refused(out: Tensor, words: str) -> None:
    with pytest.raises(GnomonError, match=words):
        apply_rotary(random(1, 2, 5, 4), **ANGLES, out=out)


def test_tensors_are_told_apart_by_the_places_that_they_reach() -> None:
    """Against the sets of places themselves, for every two of many views of one memory."""
    memory = torch.arange(60)
    views = [
        memory.as_strided(size, stride, start)
        for size, stride in (
            ((2, 3), (12, 2)),
            ((3, 4), (10, 1)),
            ((3, 2), (10, 5)),
            ((4,), (1,)),
            ((2, 2, 2), (20, 10, 1)),
        )
        for start in range(14)
    ]
    places = [set(view.flatten().tolist()) for view in views]
    proven = 0
    for (one, mine), (other, theirs) in product(zip(views, places, strict=True), repeat=2):
        assert not (apart(one, other) and mine & theirs)
        proven += apart(one, other)
    assert proven > 400  # of 2025 pairs, most of which share a place


@PATHS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_out_in_the_gaps_of_a_strided_q_is_refused_when_both_share_rows(path: str | None, dtype: torch.dtype) -> None:
    rows = random(1, 1, 5, 8).to(dtype)
    q, out = rows[..., :4], rows.view(-1)[20:].view(1, 1, 5, 4)
    with preferring(path):
        refused(q, words="overlap|share", out=out)


@PATHS
def test_autograd_notices_what_inference_mode_overwrites(path: str | None) -> None:
    q = random(1, 2, 5, 4).requires_grad_() * 1
    loss = q.square().sum()
    with torch.inference_mode(), preferring(path):
        apply_rotary(q.detach(), **ANGLES, inplace=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@PATHS
def test_nothing_to_turn_is_no_overlap(path: str | None) -> None:
    q = torch.zeros(2, 0, 5, 4)
    with preferring(path):
        assert apply_rotary(q, **ANGLES, inplace=True) is q
