"""Training on several devices stops now and then with "unused parameters".

Cause: the sines and cosines of learned frequencies are kept after the first call, so the second step never touches the
parameter: its gradient comes and goes with the cache.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_training import LearnedFrequencies


def faulty(folder: Path) -> LearnedFrequencies:
    return LearnedFrequencies(cached=True)


def healthy(folder: Path) -> LearnedFrequencies:
    return LearnedFrequencies(cached=False)


ITEM = Fault(
    source="lucidrains/rotary-embedding-torch#37, openvpi/DiffSinger#244",
    check="PE504",
    where="freqs",
    right="in every forward, or make it a buffer",
    build=faulty,
    healthy=healthy,
)
