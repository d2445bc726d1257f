"""Text decays after many context shifts: bfloat16 keys are turned back in place, and each turn rounds what is left."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Shifted, ShiftedAgain, Shifting
from tests.helpers.gallery_decoding import tokens


def faulty(_: Path) -> Any:
    return tokens(Shifting(ShiftedAgain))


def healthy(_: Path) -> Any:
    return tokens(Shifting(Shifted))


ITEM = Fault(
    source="vllm-project/vllm#57672, ggml-org/llama.cpp#4097",
    check="PE415",
    where="the cache",
    right=r"in torch.bfloat16 100 shifts by -10 .* from one shift by -1000 .* once by the sum of all shifts",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
