"""What counts as a whole number and as a number."""

import numpy
import pytest
import torch

from gnomon.kernels.given import is_number, is_whole


@pytest.mark.parametrize("given", [2.0, "2", None, True, torch.tensor(2), [2]])
def test_what_is_no_integer(given: object) -> None:
    assert not is_whole(given)
    assert is_whole(-2)


@pytest.mark.parametrize("given", ["2", None, True, 2j, torch.tensor(2.0), [2.0]])
def test_what_is_no_number(given: object) -> None:
    assert not is_number(given)
    assert is_number(-2)
    assert is_number(0.5)
    assert is_number(numpy.float32(0.5))
