"""Under torch.compile: one graph forward and backward, few compilations over many lengths, and the eager numbers."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounterWithBackend

from gnomon.encodings import Rotary
from gnomon.errors import GnomonError
from gnomon.kernels.rotary import ROTATION, apply_rotary
from gnomon.kernels.rotation import rotate

LAYOUTS = pytest.mark.parametrize("layout", ["half", "interleaved"])
IN_GRAPHS = pytest.mark.parametrize("path", ["eager", "traceable"])
ANGLE = torch.rand(90, 3, generator=torch.Generator().manual_seed(1)) * 6
ANGLES: dict[str, Any] = {"cos": ANGLE.cos(), "sin": ANGLE.sin()}
LENGTHS = (3, 7, 4, 11, 5)


class Layer(nn.Module):
    """What an attention layer does before the scores: a product, and the rotation at the given positions."""

    def __init__(self, layout: Any) -> None:
        super().__init__()
        self.product = nn.Linear(8, 8)
        self.layout = layout

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        q = self.product(x)
        y, z = apply_rotary(q, q[:, :1], **ANGLES, positions=positions, layout=self.layout)
        return y @ z.mT


class WithEncoding(Layer):
    def __init__(self, layout: Any) -> None:
        super().__init__(layout)
        self.rotary = Rotary(8, rotary_dim=6, layout=layout)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        q = self.product(x)
        y, z = self.rotary.rotate(q, q[:, :1], positions)
        return y @ z.mT


def inputs(length: int) -> tuple[Tensor, Tensor]:
    x = torch.randn(2, 3, length, 8, generator=torch.Generator().manual_seed(length))
    return x.requires_grad_(), torch.arange(length) + torch.tensor([[0], [70]])


@IN_GRAPHS
@LAYOUTS
@pytest.mark.parametrize("layer", [Layer, WithEncoding])
@pytest.mark.usefixtures("unchecked")
def test_a_layer_traces_into_one_graph_for_all_lengths(layer: type[Layer], layout: Any, path: str) -> None:
    module, counter = layer(layout), CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    for length in LENGTHS:
        x, positions = inputs(length)
        with ROTATION.using(path):
            got = compiled(x, positions)
        want = module(x, positions)
        torch.testing.assert_close(got, want, atol=2e-5, rtol=1e-5)
        for mine, theirs in zip(gradients(got, x, module), gradients(want, x, module), strict=True):
            torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=1e-5)
    assert counter.frame_count <= 2


def gradients(y: Tensor, x: Tensor, module: nn.Module) -> tuple[Tensor, ...]:
    return torch.autograd.grad(y.square().sum(), (x, *module.parameters()))


@LAYOUTS
@pytest.mark.usefixtures("unchecked")
def test_rotation_in_place_traces_into_one_graph(layout: Any) -> None:
    x = inputs(5)[0].detach()
    want = apply_rotary(x, **ANGLES, positions=torch.arange(5)[None], layout=layout)

    def turn(x: Tensor) -> Any:
        return apply_rotary(x, **ANGLES, positions=torch.arange(5)[None], layout=layout, inplace=True)

    y = x.clone()
    torch.compile(turn, backend="aot_eager", fullgraph=True)(y)
    torch.testing.assert_close(y, want)


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("picked", [True, False])
@pytest.mark.usefixtures("unchecked")
def test_the_operator_keeps_what_torch_asks_of_operators(layout: Any, dtype: torch.dtype, picked: bool) -> None:
    x = torch.randn(2, 5, 3, 7, generator=torch.Generator().manual_seed(0)).to(dtype).transpose(1, 2).requires_grad_()
    positions = torch.arange(5)[None] if picked else None
    cos, sin = (ANGLES[name] if picked else ANGLES[name][None, :5] for name in ("cos", "sin"))
    torch.library.opcheck(torch.ops.gnomon.rotate, (x, cos, sin, positions, layout, 1.0))


@pytest.mark.usefixtures("unchecked")
def test_only_two_paths_trace() -> None:
    def turn(x: Tensor) -> Any:
        return apply_rotary(x, **ANGLES, positions=torch.arange(5)[None], layout="half")

    with ROTATION.using("native"), pytest.raises(Exception, match=r"forced path 'native'.*cannot serve"):
        torch.compile(turn, backend="eager", fullgraph=True)(inputs(5)[0])


def test_angles_that_are_learned_are_left_to_the_formula() -> None:
    x, angle = inputs(5)[0], torch.rand(5, 3).requires_grad_()
    with ROTATION.using("traceable"), pytest.raises(GnomonError, match="cos or sin requires grad"):
        apply_rotary(x, cos=angle.cos(), sin=angle.sin(), layout="half")


@LAYOUTS
@pytest.mark.usefixtures("unchecked")
def test_export_gives_plain_arithmetic(layout: Any) -> None:
    """So that a format without our operator can hold it."""

    class Turn(nn.Module):
        def forward(self, x: Tensor, positions: Tensor) -> Any:
            return apply_rotary(x, **ANGLES, positions=positions, layout=layout)

    x, positions = inputs(5)
    x = x.detach()
    program = torch.export.export(Turn(), (x, positions))
    assert not [node for node in program.graph.nodes if "gnomon" in str(node.target)]
    rows = (ANGLES[name][positions].unsqueeze(1) for name in ("cos", "sin"))
    torch.testing.assert_close(program.module()(x, positions), rotate(x, *rows, layout=layout))
