"""Every registered encoding, with several sets of options, keeps the contract; and the contract itself is usable."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.encodings import ALiBi, Learned, PositionEncoding, Rotary, registry
from gnomon.testing import CLAUSES, ContractError, Reference, check_encoding
from tests.helpers.case import Case
from tests.helpers.encodings import case, cases


@pytest.mark.parametrize("item", list(cases()), ids=lambda item: item.name)
def test_encoding_keeps_every_clause(item: Case) -> None:
    check_encoding(item.encoding, reference=item.reference)


def test_every_registered_encoding_has_cases() -> None:
    assert {item.name.split("-")[0] for item in cases()} == set(registry.names())


@pytest.mark.parametrize("name", registry.names())
def test_the_sample_of_each_encoding_keeps_the_contract(name: str) -> None:
    check_encoding(registry.get(name).sample(num_heads=3, head_dim=8), num_heads=3, head_dim=8, dim=24)


def test_the_error_names_clause_and_numbers() -> None:
    wrong = Reference(bias=lambda head, i, j: -float(abs(i - j)))
    with pytest.raises(ContractError, match=r"ALiBi breaks 2 of \d+ clauses:\n  reference: bias differs by") as caught:
        check_encoding(ALiBi(2), reference=wrong)
    assert set(caught.value.broken) == {"reference", "far_out"}


def test_a_crash_is_a_broken_clause_and_the_rest_still_runs() -> None:
    with pytest.raises(ContractError) as caught:
        check_encoding(Rotary(8), head_dim=10)
    assert "raised ShapeError: The heads are 10 wide" in caught.value.broken["norms"]
    assert "json_round_trip" in caught.value.broken


def test_every_clause_says_what_it_asks() -> None:
    assert all(clause.__doc__ for clause in CLAUSES.values())


class Window(PositionEncoding):
    """What a user may write: unregistered, with sizes of its own, a penalty for keys far away."""

    relative: bool = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        if query_positions.dtype != torch.int64 or key_positions.dtype != torch.int64:
            raise TypeError("positions must be int64")
        far = (query_positions[:, None, :, None] - key_positions[:, None, None, :]).abs() >= self.width
        return far * -100.0

    @property
    def options(self) -> dict[str, Any]:
        return {"width": self.width}


def test_a_users_own_encoding_can_be_checked_without_registry_or_reference() -> None:
    check_encoding(Window(3))
    check_encoding(Window(3), reference=Reference(bias=lambda head, i, j: -100.0 if abs(i - j) >= 3 else 0.0))
    with pytest.raises(ContractError, match="bias differs by 100"):
        check_encoding(Window(3), reference=Reference(bias=lambda head, i, j: -100.0 if abs(i - j) > 3 else 0.0))


@pytest.mark.parametrize("max_length", [1, 2, 3, 8])
def test_short_tables_keep_the_contract_too(max_length: int) -> None:
    check_encoding(Learned(max_length, 6))


@pytest.mark.parametrize("name", ["learned-2", "rotary-6-half-plain"])
def test_the_check_leaves_the_encoding_as_it_was(name: str) -> None:
    item = case(name)
    before = {key: value.clone() for key, value in item.encoding.state_dict().items()}
    options = item.encoding.options
    check_encoding(item.encoding, reference=item.reference)
    assert item.encoding.options == options
    assert all(torch.equal(before[key], value) for key, value in item.encoding.state_dict().items())
    assert all(parameter.grad is None for parameter in item.encoding.parameters())
