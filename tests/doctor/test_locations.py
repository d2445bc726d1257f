"""A finding knows the line of the user's code or config that it is about."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.doctor.locations import located
from gnomon.report.document import CheckResult, Finding

THIS = Path(__file__)


class Rotary(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = 2.0
        self.register_buffer("inv_freq", torch.ones(4))  # the line of inv_freq
        self.table = torch.ones(3)  # the line of table

    def forward(self, x: Tensor) -> Tensor:  # the line of forward
        return x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Rotary(), Rotary()])
        self.head = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return x


def line_of(marker: str) -> int:
    lines = THIS.read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# the line of {marker}"))


def locate(where: str, target: object, **measured: object) -> Finding:
    found = CheckResult("PE301", "a-check", "error", "failed", findings=(Finding(where, "m", "f", measured),))
    [result] = located([found], load_subject(target))  # type: ignore[arg-type]
    return result.findings[0]


@pytest.mark.parametrize(
    ("where", "marker"),
    [
        ("layers.0", "forward"),
        ("layers.*", "forward"),
        ("layers.1.inv_freq", "inv_freq"),
        ("layers.*.inv_freq", "inv_freq"),
        ("layers.0.table", "table"),
    ],
)
def test_a_path_leads_to_the_line_of_its_class(where: str, marker: str) -> None:
    location = locate(where, Model()).location
    assert location is not None
    assert (Path(location.file), location.line) == (THIS, line_of(marker))


@pytest.mark.parametrize("where", ["head", "head.weight", "the forward", "layers.7", "layers.0.scale", ""])
def test_what_is_not_the_users_has_no_line(where: str) -> None:
    assert locate(where, Model()).location is None


def test_a_key_leads_to_its_line_in_the_config(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}}, indent=2))
    for where, line in (("rope_scaling", 3), ("rope_scaling.factor", 5), ("config.json", 1)):
        location = locate(where, str(path)).location
        assert location is not None
        assert (location.file, location.line) == (str(path), line)
    measured = locate("config.json", str(path), **{"rope_scaling.type": "linear"}).location
    assert measured is not None
    assert measured.line == 4


def test_a_place_that_no_key_has_is_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "llama"}')
    assert locate("the forward", str(path)).location is None
