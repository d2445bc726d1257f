"""A small model is examined on one thread; what the caller had comes back."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from gnomon import diagnose
from gnomon.adapters.subject import Subject
from gnomon.doctor import threads
from gnomon.doctor.threads import threads_for

THREADS = 3


class Counting(nn.Module):
    """Words, each with its position; notes how many threads torch has in every forward."""

    seen: set[int]

    def __init__(self) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(20, 8), nn.Embedding(12, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        type(self).seen.add(torch.get_num_threads())
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1]))
        out: Tensor = self.attention(x, x, x)[0]
        return out


@pytest.fixture(autouse=True)
def several_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    Counting.seen = set()
    yield
    torch.set_num_threads(before)


def test_a_small_model_is_run_on_one_thread_and_the_callers_number_comes_back() -> None:
    diagnose(Counting(), select="PE301,PE310")
    assert Counting.seen == {1}
    assert torch.get_num_threads() == THREADS


def test_a_large_model_keeps_the_callers_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALL", 100)
    diagnose(Counting(), select="PE301,PE310")
    assert Counting.seen == {THREADS}


def test_the_number_comes_back_after_an_error() -> None:
    with pytest.raises(RuntimeError), threads_for(Subject("nothing")):
        Counting()(torch.zeros(1, 99, dtype=torch.int64) - torch.ones(3, 2))
    assert torch.get_num_threads() == THREADS
