"""Anything but a module, and numbers of another kind, are refused in one sentence that says what is wanted."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from gnomon.encodings import Learned, T5Bias
from gnomon.errors import GnomonError
from gnomon.finetune import (
    adapter_state,
    freeze,
    low_rank,
    merge,
    parameter_groups,
    position_parameters,
    train_rows,
    unfreeze,
)

Call = Callable[..., Any]
CALLS: dict[str, Call] = {
    "adapter_state": adapter_state,
    "freeze": freeze,
    "low_rank": lambda model: low_rank(model, 1),
    "merge": merge,
    "parameter_groups": lambda model: parameter_groups(model, weight_decay=0.1),
    "position_parameters": position_parameters,
    "train_rows": lambda model: train_rows(model, 1),
    "unfreeze": unfreeze,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("given", "told"),
    [(None, "None"), (3, "int"), ("x", "str"), (Learned, "the class Learned"), ([Learned(4, 2)], "list")],
    ids=str,
)
def test_what_is_no_module_is_refused(name: str, given: object, told: str) -> None:
    with pytest.raises(GnomonError, match=rf"^What is fine-tuned is a torch\.nn\.Module, .*, got {told}\.$"):
        CALLS[name](given)


@pytest.mark.parametrize("value", [2.5, 2.0, "2", None, True])
def test_ranks_and_rows_are_integers(value: Any) -> None:
    encoding = Learned(16, 4)
    with pytest.raises(GnomonError, match=rf"rank of an adapter for weight is 1 to 4, .*; got {value!r}\.$"):
        low_rank(encoding, value)
    with pytest.raises(GnomonError, match=rf"first row to train is 1 to 15 .*, got {value!r}\.$"):
        train_rows(encoding, value)
    assert list(encoding.state_dict()) == ["weight"]
    assert encoding.weight.requires_grad


@pytest.mark.parametrize("value", ["1", None, True, torch.tensor(1.0)])
def test_scales_and_decays_are_numbers(value: Any) -> None:
    with pytest.raises(GnomonError, match=r"scale of a low-rank adapter is a finite number other than 0, got "):
        low_rank(T5Bias(4), 1, scale=value)
    with pytest.raises(GnomonError, match=r"Weight decay is a finite number of at least 0, got "):
        parameter_groups(nn.Linear(2, 2), weight_decay=value)


def test_what_draws_is_a_generator() -> None:
    with pytest.raises(GnomonError, match=r"a torch\.Generator of the CPU, or None, got int\.$"):
        low_rank(T5Bias(4), 1, generator=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [3, [3], ["weight", None]])
def test_names_are_words(names: Any) -> None:
    encoding = Learned(4, 2).requires_grad_(False)
    with pytest.raises(GnomonError, match=r"^Names of parameters are str"):
        unfreeze(encoding, names)
    assert not encoding.weight.requires_grad
