"""The training example learns."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "examples" / "xlnet_permutation_lm.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("xlnet_permutation_lm", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_learns_far_below_guessing_and_begins_the_same_each_time(example: ModuleType) -> None:
    """Guessing costs ln 12 = 2.48 nats."""
    seen = list(example.losses(150, batch=16))
    assert 2.4 < seen[0] < 5
    assert sum(seen[-20:]) / 20 < 1.0
    assert list(example.losses(3, batch=16)) == seen[:3]


def test_it_says_where_it_began_and_ended(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    example.main(steps=2)
    assert "nats for each letter" in capsys.readouterr().out
