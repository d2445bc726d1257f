"""No position encoding: nothing changes, whatever the positions."""

import torch

from gnomon.encodings import NoPE
from gnomon.encodings.nope import reference


def test_every_hook_gives_back_its_argument() -> None:
    x = torch.randn(2, 3, 4, 8, generator=torch.Generator().manual_seed(0))
    positions = torch.arange(4)[None]
    encoding = NoPE()
    assert encoding.rotate_query(x, positions) is x
    assert encoding.rotate_key(x, positions) is x
    assert encoding.embed(x[0], positions) is x[0] or torch.equal(encoding.embed(x[0], positions), x[0])
    assert encoding.bias(positions, positions) is None
    assert reference(x[0, 0, 0].tolist()) == x[0, 0, 0].tolist()
