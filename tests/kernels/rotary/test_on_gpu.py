"""The Triton kernel in Triton's interpreter, which runs it on the CPU, in a process of its own."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

CHILD = """
import torch
from gnomon.errors import PositionError
from gnomon.kernels.rotary import ROTATION, apply_rotary

def check(got, want):
    # The interpreter cuts bfloat16 off where hardware rounds: one more unit in the last place.
    allowed = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 3.2e-2}[got.dtype]
    assert got.dtype == want.dtype and got.stride(-1) == 1
    torch.testing.assert_close(got.float(), want.float(), atol=allowed, rtol=allowed)

torch.manual_seed(0)
turned = torch.rand(20, 7) * 6
scattered, none = torch.tensor([[1, 2, 4], [9, 19, 0]]), None
cases = [(torch.float32, layout, at) for layout in ("half", "interleaved") for at in (scattered, scattered[:1], none)]
cases += [(torch.bfloat16, "half", scattered), (torch.float16, "interleaved", none)]
for dtype, layout, at in cases:
    q, k = torch.randn(2, 3, 3, 20).to(dtype).transpose(1, 2), torch.randn(2, 1, 3, 20).to(dtype)
    rows = turned if at is not None else turned[:3]
    angles = {"cos": rows.cos(), "sin": rows.sin(), "positions": at, "layout": layout}
    weight, results = torch.randn(2, 3, 3, 20).to(dtype), []
    for path in ("eager", "triton"):
        with ROTATION.using(path):
            x = q.clone().requires_grad_()
            y = apply_rotary(x, **angles)
            [gradient] = torch.autograd.grad(y, x, weight)
            a, b = apply_rotary(q.clone(), k.clone(), **angles, inplace=True)
            results.append((y.detach(), gradient, a, b))
    for want, got in zip(*results):
        check(got, want)
with ROTATION.using("triton"):
    try:
        apply_rotary(torch.ones(1, 1, 1, 14), cos=turned, sin=turned, positions=torch.tensor([[20]]), layout="half")
    except PositionError:
        print("all right")
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed: pip install 'gnomon[triton]'")
def test_the_kernel_is_the_eager_form_in_values_and_gradients() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "all right\n", done.stderr
