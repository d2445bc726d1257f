"""Which parameters ranks hold alike. The attention itself is tested in test_two_processes.py."""

import pytest
from torch import nn

from gnomon.encodings import registry
from gnomon.errors import GnomonError
from gnomon.parallel import shared_by_heads

EXPECTED = {
    "cope": ("weight",),
    "deberta": ("weight",),
    "fire": ("c", "multiplier", "hidden.weight", "hidden.bias"),
    "learned": ("weight",),
    "log_cpb": ("hidden.weight", "hidden.bias"),
    "shaw": ("weight",),
}


@pytest.mark.parametrize("name", registry.names())
def test_what_all_heads_read_is_named(name: str) -> None:
    encoding = registry.get(name).sample(num_heads=6, head_dim=4)
    if name == "fourier":
        assert set(shared_by_heads(encoding)) == {name for name, _ in encoding.named_parameters()}
    else:
        assert shared_by_heads(encoding) == EXPECTED.get(name, ())


def test_what_is_no_encoding_is_refused() -> None:
    with pytest.raises(GnomonError, match=r"gnomon\.encodings\.PositionEncoding, got Linear\.$"):
        shared_by_heads(nn.Linear(2, 2))  # type: ignore[arg-type]
