"""What callers pass beside the target: a wrong type is one sentence before anything runs, never a crashed check."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.doctor import diagnose
from gnomon.errors import GnomonError
from tests.helpers.toys import Toy

TOKENS = {"tokens": torch.zeros(2, 5, dtype=torch.int64)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("lengths", value) for value in ("x", 5, [], [-1], ["a"], [1.5], {"a": 1})],
        *[("optimizer", value) for value in (3, "adam", [1], [], torch.optim.SGD)],
        *[("batches", value) for value in ([1], "x", 3, {"tokens": 1})],
        *[("text", value) for value in ("hello", 5, [], [0.5], [-1], torch.rand(4), torch.zeros(0).long())],
        *[("shards", value) for value in (3, "x", {}, [[0, 1]], {"positions": "abc"})],
        *[("device_map", value) for value in (3, "auto", ["cpu"])],
        *[("reference", value) for value in (5, None, [1], lambda: 3)],
        *[("slopes", value) for value in (3, "x", [], [["a"]])],
        *[("factory", value) for value in (3, "x")],
        *[(name, "yes") for name in ("causal", "ordered", "trained")],
        *[(name, 3) for name in ("config", "tokenizer", "example")],
    ],
)
def test_a_wrong_type_is_one_sentence(name: str, value: Any) -> None:
    with pytest.raises(GnomonError) as caught:
        diagnose((Toy(), TOKENS), select="PE105", **{name: value})
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    assert len(said) < 200


@pytest.mark.parametrize("option", ["nonsense", "missing.json", ""])
def test_a_reference_that_is_nowhere_is_said(option: str, tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"^The reference cannot be read: "):
        diagnose((Toy(), TOKENS), select="PE108", reference=str(tmp_path / option))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda _: 5, "a function that makes one, got a int"),
        (lambda: 5, "The function that makes the optimizer fails: TypeError"),
    ],
)
def test_a_function_that_makes_no_optimizer_is_said(make: Callable[..., Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        diagnose((Toy(), TOKENS), select="PE505", optimizer=make)


@pytest.mark.parametrize(("batch", "said"), [({"words": 1}, "A batch holds words, and"), ({}, "A batch holds nothing")])
def test_batches_for_another_forward_are_said(batch: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        diagnose((Toy(), TOKENS), select="PE511", batches=[batch])


def test_what_fits_is_taken() -> None:
    module = Toy()
    fitting: dict[str, Any] = {
        "lengths": torch.tensor([3, 5]),
        "optimizer": lambda m: torch.optim.SGD(m.parameters(), lr=0.1),
        "batches": (TOKENS,),
        "text": [1, 2, 3],
        "device_map": {"": "cpu"},
        "reference": {"model_type": "gpt2"},
        "slopes": [[0.5], [0.25]],
        "factory": Toy,
        "shards": {"positions": [torch.arange(3), torch.arange(3, 6)]},
        "causal": False,
    }
    assert not diagnose((module, TOKENS), select="PE1,PE505,PE511,PE604", **fitting).crashed
