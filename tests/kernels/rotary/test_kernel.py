"""Kernels that write memory themselves leave everything unusual to torch's own operators, and the results are right."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.errors import GnomonError
from gnomon.kernels.rotary import ROTATION, apply_rotary
from gnomon.kernels.rotation import rotate
from tests.helpers.rotation_paths import preferring, runnable

PATHS = pytest.mark.parametrize("path", [None, *runnable()])
KERNELS = [path for path in runnable() if path not in ("eager", "traceable")]
ANGLE = torch.rand(5, 4, generator=torch.Generator().manual_seed(1)) * 6
ANGLES: dict[str, Any] = {"cos": ANGLE.cos(), "sin": ANGLE.sin()}


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def turned(x: Tensor, layout: Any = "half") -> Tensor:
    result = apply_rotary(x, **ANGLES, layout=layout)
    assert isinstance(result, Tensor)
    return result


def eager(x: Tensor) -> Tensor:
    return rotate(x, ANGLES["cos"], ANGLES["sin"], layout="half")


class Tagged(Tensor):
    """A tensor of another class, which torch's operators keep."""


class Watching(TorchDispatchMode):
    """Counts what runs, and so must see it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Listening(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def forward_mode() -> Iterator[None]:
    with forward_ad.dual_level():
        yield


@pytest.mark.parametrize("path", KERNELS)
@pytest.mark.parametrize("context", [Watching, Listening, forward_mode])
def test_a_forced_kernel_says_why_it_stays_out(path: str, context: Callable[[], Any]) -> None:
    with ROTATION.using(path), context(), pytest.raises(GnomonError, match=f"'{path}'.*no plain memory"):
        turned(random(2, 3, 5, 8), layout="interleaved" if path == "complex" else "half")


@pytest.mark.parametrize("path", KERNELS)
def test_a_forced_kernel_stays_out_of_a_transform(path: str) -> None:
    with ROTATION.using(path), pytest.raises(GnomonError, match=f"'{path}'.*no plain memory"):
        torch.func.vmap(lambda x: turned(x, "interleaved" if path == "complex" else "half"))(random(2, 2, 3, 5, 8))


@PATHS
def test_another_class_of_tensor_is_kept(path: str | None) -> None:
    x = random(2, 3, 5, 8)
    with preferring(path):
        got = turned(x.as_subclass(Tagged))
        assert type(got) is Tagged
        torch.testing.assert_close(got.as_subclass(Tensor), eager(x))


@PATHS
def test_a_dispatch_mode_sees_what_happens(path: str | None) -> None:
    with preferring(path), Watching() as watching:
        got = turned(random(2, 3, 5, 8))
    torch.testing.assert_close(got, eager(random(2, 3, 5, 8)))
    assert any("mul" in name or "gnomon.rotate" in name for name in watching.seen)


@PATHS
def test_meta_and_fake_tensors_give_their_shape(path: str | None) -> None:
    meta: dict[str, Any] = {name: value.to("meta") for name, value in ANGLES.items()}
    with preferring(path):
        got = apply_rotary(torch.empty(2, 3, 5, 8, device="meta").bfloat16(), **meta, layout="half")
        assert isinstance(got, Tensor)
        assert (got.shape, got.dtype, got.is_meta) == ((2, 3, 5, 8), torch.bfloat16, True)
        with FakeTensorMode() as mode:
            fake: dict[str, Any] = {name: mode.from_tensor(value) for name, value in ANGLES.items()}
            got = apply_rotary(torch.empty(2, 3, 5, 8), **fake, layout="half")
            assert isinstance(got, Tensor)
            assert got.shape == (2, 3, 5, 8)


@PATHS
def test_transforms_of_torch_func_give_the_right_numbers(path: str | None) -> None:
    x, weight = random(4, 2, 3, 5, 8), random(2, 3, 5, 8)
    with preferring(path):
        mapped = torch.func.vmap(turned)(x)
        got = torch.func.grad(lambda x: (turned(x) * weight).sum())(x[0])
        jacobian = torch.func.vmap(torch.func.grad(lambda x: (turned(x) * weight).sum()))(x)
    torch.testing.assert_close(mapped, eager(x))
    back = rotate(weight, ANGLES["cos"], -ANGLES["sin"], layout="half")
    torch.testing.assert_close(got, back)
    torch.testing.assert_close(jacobian, back.expand_as(x))


@PATHS
def test_vmap_over_angles_turns_each_by_its_own(path: str | None) -> None:
    x, angle = random(2, 3, 5, 8), random(4, 5, 4)
    with preferring(path):
        got = torch.func.vmap(lambda cos, sin: apply_rotary(x, cos=cos, sin=sin, layout="half"))(
            angle.cos(), angle.sin()
        )
    want = [rotate(x, each.cos(), each.sin(), layout="half") for each in angle]
    torch.testing.assert_close(got, torch.stack(want))


@PATHS
@pytest.mark.parametrize("width", [8, 11])
def test_many_gradients_at_once_are_right(path: str | None, width: int) -> None:
    x, weights = random(2, 3, 5, width).requires_grad_(), random(4, 2, 3, 5, width)
    with preferring(path):
        [got] = torch.autograd.grad(turned(x), x, weights, is_grads_batched=True)
    torch.testing.assert_close(got, rotate(weights, ANGLES["cos"], -ANGLES["sin"], layout="half"))


@pytest.mark.parametrize("path", [None, *runnable()])
@pytest.mark.filterwarnings(
    "ignore:.torch.jit.script. is deprecated:DeprecationWarning"
)  # forward mode in torch itself
def test_forward_mode_carries_the_tangent(path: str | None) -> None:
    x, tangent = random(2, 3, 5, 8), random(2, 3, 5, 8).flip(0)
    with preferring(path), forward_ad.dual_level():
        got = forward_ad.unpack_dual(turned(forward_ad.make_dual(x, tangent)))
    assert got.tangent is not None
    torch.testing.assert_close(got.tangent, eager(tangent))


@PATHS
def test_lazily_negated_numbers_are_read_as_what_they_are(path: str | None) -> None:
    negated = torch._neg_view(random(2, 3, 5, 8))
    assert negated.is_neg()
    with preferring(path):
        torch.testing.assert_close(turned(negated), -eager(random(2, 3, 5, 8)))


@PATHS
def test_autocast_changes_nothing(path: str | None) -> None:
    x = random(2, 3, 5, 8)
    with preferring(path), torch.autocast("cpu", torch.bfloat16):
        got, low = turned(x), turned(x.bfloat16())
    assert (got.dtype, low.dtype) == (torch.float32, torch.bfloat16)
    torch.testing.assert_close(got, eager(x))


@pytest.mark.parametrize("path", KERNELS)
def test_saying_where_new_tensors_are_made_does_not_stop_a_kernel(path: str) -> None:
    with torch.device("cpu"), ROTATION.using(path):
        turned(random(2, 3, 5, 8), layout="interleaved" if path == "complex" else "half")
