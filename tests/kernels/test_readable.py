"""Values are read, and results kept, only where nobody records or replaces what is done."""

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from gnomon.kernels.readable import readable


class Recording(Tensor):
    pass


def test_plain_tensors_are_readable_also_where_a_device_context_makes_new_ones() -> None:
    plain = torch.ones(2)
    assert readable(plain, torch.tensor([1]))
    with torch.device("cpu"), torch.no_grad(), torch.inference_mode():
        assert readable(plain)


def test_tensors_without_values_of_their_own_are_not() -> None:
    assert not readable(torch.ones(2), torch.ones(2, device="meta"))
    assert not readable(torch.ones(2).as_subclass(Recording))


def test_nothing_is_readable_while_a_mode_watches() -> None:
    class Watching(TorchFunctionMode):
        pass

    plain = torch.ones(2)
    with Watching():
        assert not readable(plain)
    with FlopCounterMode(display=False):
        assert not readable(plain)
    with forward_ad.dual_level():
        assert not readable(plain)
    assert readable(plain)


def test_nothing_is_readable_while_a_graph_is_recorded() -> None:
    seen = []

    def look(x: Tensor) -> Tensor:
        seen.append(readable(x))
        return x + 1

    torch.func.vmap(look)(torch.ones(2, 2))
    with pytest.warns(DeprecationWarning, match="is deprecated"):
        torch.jit.trace(look, torch.ones(2), check_trace=False)
    assert seen == [False, False]


def test_it_traces_into_one_graph() -> None:
    compiled = torch.compile(lambda x: x + 1 if readable(x) else x - 1, backend="eager", fullgraph=True)
    assert torch.equal(compiled(torch.ones(2)), torch.zeros(2))
