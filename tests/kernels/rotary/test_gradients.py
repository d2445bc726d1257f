"""Gradients: right on every path, any number of times, and without keeping q or k."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.kernels.rotary import ROTATION, apply_rotary
from tests.helpers.rotation_paths import preferring, runnable

PATHS = pytest.mark.parametrize("path", [None, *runnable()])
LAYOUTS = pytest.mark.parametrize("layout", ["half", "interleaved"])
TURNED = torch.rand(9, 3, generator=torch.Generator().manual_seed(3)) * 6
ANGLES: dict[str, Any] = {
    "cos": TURNED.cos(),
    "sin": TURNED.sin(),
    "positions": torch.tensor([[1, 2, 8, 0, 4], [3, 3, 2, 7, 6]]),
}


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def matrix(layout: str) -> Tensor:
    """(2, 5, 8, 8): what each token of two columns too many is multiplied by, entry by entry."""
    cos, sin = (ANGLES[name][ANGLES["positions"]] for name in ("cos", "sin"))
    turn = torch.eye(8).repeat(2, 5, 1, 1)
    for i in range(3):
        a, b = (i, i + 3) if layout == "half" else (2 * i, 2 * i + 1)
        turn[..., a, a], turn[..., a, b], turn[..., b, a], turn[..., b, b] = (
            *(cos[..., i], -sin[..., i]),
            *(sin[..., i], cos[..., i]),
        )
    return turn


@PATHS
@LAYOUTS
def test_gradients_of_both_are_those_of_the_matrices(path: str | None, layout: Any) -> None:
    q, k = random(2, 3, 5, 8).requires_grad_(), random(2, 1, 5, 8).requires_grad_()
    weights = random(2, 3, 5, 8) * 2, random(2, 1, 5, 8) * 3
    with preferring(path):
        got = torch.autograd.grad(apply_rotary(q, k, **ANGLES, layout=layout), (q, k), weights)
    for gradient, weight in zip(got, weights, strict=True):
        torch.testing.assert_close(gradient, torch.einsum("bsij,bhsi->bhsj", matrix(layout), weight))


@PATHS
@LAYOUTS
def test_the_gradient_of_a_gradient_is_right(path: str | None, layout: Any) -> None:
    """With y = R q and f = sum(y^4), the Hessian times v is 12 R^T (y^2 R v)."""
    q, v = random(2, 3, 5, 8).requires_grad_(), random(2, 3, 5, 8).flip(0)
    with preferring(path):
        y = apply_rotary(q, **ANGLES, layout=layout)
        assert isinstance(y, Tensor)
        [first] = torch.autograd.grad((y**4).sum(), q, create_graph=True)
        [second] = torch.autograd.grad((first * v).sum(), q)
    turn = matrix(layout)
    with torch.no_grad():
        moved = torch.einsum("bsij,bhsj->bhsi", turn, v)
        want = 12 * torch.einsum("bsij,bhsi->bhsj", turn, y**2 * moved)
    torch.testing.assert_close(second, want, rtol=1e-4, atol=1e-4)


@PATHS
def test_where_one_needs_a_gradient_the_other_stays_out_of_the_graph(path: str | None) -> None:
    q, k = random(2, 3, 5, 8).requires_grad_(), random(2, 1, 5, 8)
    with preferring(path):
        y, z = apply_rotary(q, k, **ANGLES, layout="half")
        assert (y.requires_grad, z.requires_grad) == (True, False)
        k.requires_grad_()
        y, z = apply_rotary(q, k, **ANGLES, layout="half")
        z.sum().backward()
    assert q.grad is None or not q.grad.any()
    assert k.grad is not None


@PATHS
def test_expanded_and_transposed_gradients_are_taken(path: str | None) -> None:
    q = random(2, 3, 5, 8).requires_grad_()
    with preferring(path):
        for shape in ((), (2, 1, 5, 1)):
            weight = torch.full(shape, 2.0).expand(2, 3, 5, 8)
            [got] = torch.autograd.grad(apply_rotary(q, **ANGLES, layout="half"), q, weight)
            [want] = torch.autograd.grad(apply_rotary(q, **ANGLES, layout="half"), q, weight.clone())
            torch.testing.assert_close(got, want)


@pytest.mark.parametrize("path", [path for path in runnable() if path not in ("eager", "traceable")])
def test_only_angles_are_kept(path: str) -> None:
    kept: list[Tensor] = []

    def keep(x: Tensor) -> Tensor:
        kept.append(x)
        return x

    q, k = random(2, 3, 5, 8).requires_grad_(), random(2, 1, 5, 8).requires_grad_()
    layout: Any = "interleaved" if path == "complex" else "half"
    with ROTATION.using(path), torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        apply_rotary(q, k, **ANGLES, layout=layout)
    cos, sin, positions = kept
    assert (cos.data_ptr(), sin.data_ptr()) == (ANGLES["cos"].data_ptr(), ANGLES["sin"].data_ptr())
    assert torch.equal(positions, ANGLES["positions"])  # a copy: callers may count theirs up


@PATHS
def test_angles_get_their_gradients_too(path: str | None) -> None:
    """d/d angle of a rotated vector is that vector a quarter turn on."""
    q, angle = random(2, 3, 5, 8), random(2, 5, 3).requires_grad_()
    weight = random(2, 3, 5, 8).flip(1)
    with preferring(path):
        y = apply_rotary(q, cos=angle.cos(), sin=angle.sin(), layout="half")
        assert isinstance(y, Tensor)
        (y * weight).sum().backward()
    a, b = y.detach()[..., :6].chunk(2, -1)
    want = (weight[..., :3] * -b + weight[..., 3:6] * a).sum(1)
    assert angle.grad is not None
    torch.testing.assert_close(angle.grad, want)


@PATHS
def test_tables_made_in_inference_mode_serve_training(path: str | None) -> None:
    if path == "eager":
        pytest.skip("torch's own operators cannot keep them")
    with torch.inference_mode():
        angles = {name: value.clone() for name, value in ANGLES.items()}
    q = random(2, 3, 5, 8).requires_grad_()
    if path == "traceable":
        pytest.skip("the registered gradient keeps them through torch")
    with preferring(path):
        y = apply_rotary(q, **angles, layout="interleaved" if path == "complex" else "half")
        [got] = torch.autograd.grad(y, q, torch.ones_like(q))
    assert got.isfinite().all()


@PATHS
def test_a_table_that_changes_before_the_backward_pass_is_noticed(path: str | None) -> None:
    q, cos = random(2, 3, 5, 8).requires_grad_(), ANGLES["cos"].clone()
    with preferring(path):
        y = apply_rotary(q, **{**ANGLES, "cos": cos}, layout="half")
    assert isinstance(y, Tensor)
    if path == "eager" or (path == "complex"):
        pytest.skip("the eager form keeps gathered rows")
    cos.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("path", [None, *(path for path in runnable() if path != "traceable")])  # torch refuses there
def test_ids_that_are_counted_up_before_the_backward_pass_change_no_gradient(path: str | None) -> None:
    x = random(2, 3, 5, 8).requires_grad_()
    weights = random(2, 3, 5, 8)
    positions = ANGLES["positions"].clone()

    def slope(change: bool) -> Tensor:
        given = positions.clone()
        with preferring(path):
            turned = apply_rotary(x, **{**ANGLES, "positions": given}, layout="half")
        if change:
            given.sub_(given)
        assert isinstance(turned, Tensor)
        [found] = torch.autograd.grad((turned * weights).sum(), x)
        return found

    assert torch.equal(slope(change=True), slope(change=False))
