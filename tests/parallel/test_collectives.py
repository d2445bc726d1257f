"""What ranks exchange. That it is right is tested with two processes, in test_two_processes.py."""

import pytest

from gnomon.attention import Attention
from gnomon.encodings import ALiBi
from gnomon.errors import GnomonError
from gnomon.parallel import ContextParallel, HeadParallelAttention
from gnomon.parallel.collectives import place


def test_a_process_without_others_is_told_how_to_start() -> None:
    with pytest.raises(GnomonError, match=r"belongs to no group: start it with torchrun and call torch\.distributed"):
        place()
    with pytest.raises(GnomonError, match="belongs to no group"):
        _ = ContextParallel().rank
    with pytest.raises(GnomonError, match="belongs to no group"):
        HeadParallelAttention(Attention(8, num_heads=2, encoding=ALiBi(2), causal=True))
