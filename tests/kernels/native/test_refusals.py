"""Arguments that the compiled rotation must not touch memory for."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.kernels import native
from tests.helpers.native_rotation import angles, needs_kernel, random

pytestmark = needs_kernel

Arguments = dict[str, Any]


def fitting() -> Arguments:
    cos, sin = angles(5, 4)
    return {"source": random(2, 3, 5, 8), "destination": random(2, 3, 5, 8), "cos": cos, "sin": sin, "positions": None}


def call(arguments: Arguments) -> int:
    tensors = ((arguments["source"], arguments["destination"]),)
    return native.rotate(tensors, arguments["cos"], arguments["sin"], arguments["positions"], False, 1.0, 1)


def wider(cos: torch.Tensor) -> torch.Tensor:
    return torch.cat((cos, cos), dim=-1)[..., ::2]


CASES: list[tuple[str, Callable[[Arguments], Arguments], str]] = [
    ("another dtype", lambda a: {"destination": a["destination"].half()}, "of one dtype"),
    ("float64", lambda a: {"source": a["source"].double(), "destination": a["source"].double()}, "of one dtype"),
    ("another shape", lambda a: {"destination": random(2, 3, 5, 6)}, "of one shape"),
    ("three dimensions", lambda a: {"source": random(3, 5, 8), "destination": random(3, 5, 8)}, "of one shape"),
    ("five dimensions", lambda a: {"source": random(1, 2, 3, 5, 8)}, "more than four dimensions"),
    ("strided columns", lambda a: {"source": random(2, 3, 5, 16)[..., ::2]}, "must be contiguous"),
    ("too many angles", lambda a: {"cos": angles(5, 5)[0], "sin": angles(5, 5)[1]}, "more columns"),
    ("float64 angles", lambda a: {"cos": a["cos"].double()}, "contiguous float32"),
    ("strided angles", lambda a: {"cos": wider(a["cos"])}, "contiguous float32"),
    ("unlike angles", lambda a: {"sin": angles(6, 4)[1]}, "contiguous float32"),
    ("one row of angles less", lambda a: {"cos": a["cos"][1:], "sin": a["sin"][1:]}, "one row for each token"),
    ("too many rows of angles", lambda a: dict(zip(("cos", "sin"), angles(3, 5, 4), strict=True)), "one row for each"),
    ("32-bit positions", lambda a: {"positions": torch.zeros(1, 5, dtype=torch.int32)}, "are int64"),
    ("too few positions", lambda a: {"positions": torch.zeros(1, 4, dtype=torch.int64)}, "are int64"),
    ("positions of three rows", lambda a: {"positions": torch.zeros(3, 5, dtype=torch.int64)}, "are int64"),
    (
        "positions in a batch of tables",
        lambda a: {
            "positions": torch.zeros(1, 5, dtype=torch.int64),
            "cos": a["cos"].expand(1, 5, 4),
            "sin": a["sin"].expand(1, 5, 4),
        },
        "has the shape",
    ),
    ("a number", lambda a: {"source": 1.0}, "got something else"),
    ("a tensor without data", lambda a: {"source": a["source"].to("meta")}, "CPU memory"),
    ("a sparse tensor", lambda a: {"source": a["source"].to_sparse()}, "CPU memory"),
    ("a negated view", lambda a: {"source": torch._neg_view(a["source"])}, "lazily negated"),
]


@pytest.mark.parametrize(("change", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    change: Callable[[Arguments], Arguments], words: str
) -> None:
    arguments = fitting()
    assert call(arguments) == -1
    arguments |= change(arguments)
    before = arguments["destination"].clone()
    with pytest.raises(GnomonError, match=words):
        call(arguments)
    assert torch.equal(arguments["destination"], before)


def test_tensors_that_turn_together_have_one_length() -> None:
    cos, sin = angles(5, 4)
    q, k = random(2, 3, 5, 8), random(2, 3, 4, 8)
    with pytest.raises(GnomonError, match="one batch and one length"):
        native.rotate(((q, q), (k, k)), cos, sin, None, False, 1.0, 1)


@pytest.mark.parametrize("tensors", [(), [], None, ((1, 2, 3),), (5,), "q"])
def test_anything_but_pairs_of_tensors_is_refused(tensors: Any) -> None:
    cos, sin = angles(5, 4)
    with pytest.raises(GnomonError, match="source, destination"):
        native.rotate(tensors, cos, sin, None, False, 1.0, 1)
