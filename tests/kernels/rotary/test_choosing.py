"""Which path goes where, and what a forced one says when it cannot."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.errors import GnomonError, UnknownNameError
from gnomon.kernels import native
from gnomon.kernels.rotary import PATHS, ROTATION, apply_rotary
from gnomon.kernels.rotary.choosing import ORDER, by_table
from gnomon.kernels.rotary.path import Request
from gnomon.kernels.rotary.turn import Turn

ANGLES: dict[str, Any] = {"cos": torch.ones(5, 3), "sin": torch.zeros(5, 3)}


def request(layout: Any, dtype: torch.dtype = torch.float32) -> Request:
    rows = torch.ones(1, 5, 3, dtype=torch.promote_types(dtype, torch.float32))
    return Request((torch.ones(2, 3, 5, 8, dtype=dtype),), None, Turn(rows, rows, None, layout))


def test_every_path_has_a_place_and_the_last_one_serves_all() -> None:
    assert tuple(sorted(PATHS)) == tuple(sorted(ROTATION.names))
    assert set(ORDER) == set(PATHS) - {"traceable"}  # that one is for graphs
    assert ORDER[-1] == "eager"
    assert PATHS["eager"].refusal(request("half", torch.float64)) is None


@pytest.mark.parametrize(
    ("layout", "dtype", "without_compiler"),
    [
        ("half", torch.float32, "addcmul"),
        ("interleaved", torch.float32, "complex"),
        ("half", torch.bfloat16, "addcmul"),
        ("interleaved", torch.float16, "eager"),
    ],
)
def test_the_compiled_kernel_goes_first_and_pure_torch_where_there_is_none(
    layout: Any, dtype: torch.dtype, without_compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if native.AVAILABLE:
        assert by_table(request(layout, dtype)).name == "native"
    monkeypatch.setattr(native, "AVAILABLE", False)
    assert by_table(request(layout, dtype)).name == without_compiler


def test_float64_is_for_torch_itself() -> None:
    assert by_table(request("half", torch.float64)).name == "eager"


@pytest.mark.parametrize(
    ("path", "x", "layout", "words"),
    [
        ("addcmul", torch.ones(2, 3, 5, 8), "interleaved", "layout 'half' only"),
        ("addcmul", torch.ones(2, 3, 5, 8).double(), "half", "with cos and sin in float32"),
        ("complex", torch.ones(2, 3, 5, 8), "half", "layout 'interleaved' only"),
        ("complex", torch.ones(2, 3, 5, 8).bfloat16(), "interleaved", "float32 only"),
        ("complex", torch.ones(2, 3, 5, 9)[..., 1:], "interleaved", "even places in memory"),
        ("native", torch.ones(2, 3, 5, 8).double(), "half", "float32, bfloat16 and float16|not available"),
        ("triton", torch.ones(2, 3, 5, 8), "half", "CUDA devices|not installed"),
    ],
)
def test_a_forced_path_that_cannot_serve_says_why(path: str, x: Tensor, layout: Any, words: str) -> None:
    with ROTATION.using(path), pytest.raises(GnomonError, match=f"forced path '{path}'.*because.*({words})"):
        apply_rotary(x, **ANGLES, layout=layout)


def test_a_kernel_that_was_not_built_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "AVAILABLE", False)
    monkeypatch.setattr(native, "reason", lambda: "no compiler")
    with ROTATION.using("native"), pytest.raises(GnomonError, match="not available: no compiler"):
        apply_rotary(torch.ones(2, 3, 5, 8), **ANGLES, layout="half")
    assert isinstance(apply_rotary(torch.ones(2, 3, 5, 8), **ANGLES, layout="half"), Tensor)


def test_an_unknown_path_is_an_error_that_lists_those_there_are() -> None:
    with (
        pytest.raises(UnknownNameError, match="eager, addcmul, complex, native, traceable, triton"),
        ROTATION.using("x"),
    ):
        pass
