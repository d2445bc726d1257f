"""Peaks are of live memory: what was freed before, and what stood before, does not count."""

import sys
import time

import pytest

from gnomon.bench import child, memory
from gnomon.errors import GnomonError
from tests.helpers.peaks import peak_growth

MIB = 1 << 20
TWO_STEPS = """
def setup(size):
    return [bytearray(size) for _ in range(4)]
def warm_up(kept):
    del kept[1:]
def run(kept):
    first = bytearray(len(kept[0]))
    del first
    return bytearray(2 * len(kept[0]))
"""
TORCH = """
import torch
def setup(rows):
    return torch.ones(rows, 1024)
def run(x):
    return ((x + 1) * 2).sum()
"""


@pytest.mark.parametrize("megabytes", [3, 30])
def test_the_peak_is_of_what_lives_at_once(megabytes: int) -> None:
    growth = peak_growth(TWO_STEPS, size=megabytes * MIB)
    assert abs(growth - 2 * megabytes * MIB) < 0.5 * MIB


def test_tensors_of_torch_count_and_their_growth_is_linear() -> None:
    small, large = (peak_growth(TORCH, rows=rows) for rows in (2048, 8192))
    assert 16 * MIB <= small < 20 * MIB  # two tensors of 8 MiB live at once
    assert abs((large - small) - 48 * MIB) < 2 * MIB


def test_where_the_mark_cannot_be_reset_a_thread_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "reset_peak", lambda: False)

    def work() -> int:
        block = bytearray(64 * MIB)
        block[::4096] = b"x" * len(block[::4096])
        time.sleep(0.02)
        return len(block)

    _, growth = child.peak_while(work)
    assert 60 * MIB < growth < 140 * MIB


def test_code_that_fails_is_an_error_with_its_traceback_as_a_note() -> None:
    with pytest.raises(GnomonError, match="ended with code 1: ZeroDivisionError: division by zero") as caught:
        memory.peak_growth("def setup(): return 1 / 0\ndef run(thing): ...")
    assert "Traceback" in caught.value.__notes__[0]


def test_what_the_code_prints_does_not_spoil_the_answer() -> None:
    assert memory.peak_growth("def setup(): print('hello')\ndef run(thing): print('again')") >= 0


def test_a_system_that_does_not_tell_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(GnomonError, match="measure on Linux"):
        memory.peak_growth("")
