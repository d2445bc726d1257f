"""The self-test passes here, notices what is wrong, and says what cannot be tried."""

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.attention import paths
from gnomon.attention.blocks import blockwise
from gnomon.encodings import Learned, Rotary, registry
from gnomon.errors import GnomonError
from gnomon.kernels.rotary import PATHS
from gnomon.testing import selftest
from gnomon.testing.selftest import Tried, _attention, _contract, _on_device, _rotation, _tried
from gnomon.testing.trial import ClauseError
from tests.helpers.command import gnomon, sentence

CPU = torch.device("cpu")


def test_the_command_tries_every_encoding_and_path_and_passes_here() -> None:
    # In a process of its own, as users run it: what other tests compiled here would change what is compiled there.
    ran = subprocess.run([sys.executable, "-m", "gnomon", "selftest"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [line.split()[:3] for line in ran.stdout.splitlines() if line]
    assert {name for part, name, _ in lines if part == "contract"} == set(registry.names())
    assert {name for part, name, _ in lines if part == "rotation"} == set(PATHS)
    assert {name for part, name, _ in lines if part == "attention"} == {"strided", "blocks", "flex"}
    assert "0 failed" in ran.stdout


def test_a_path_that_turns_the_other_way_fails_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    eager = type(PATHS["eager"])
    turned = eager.turned
    monkeypatch.setattr(eager, "turned", lambda self, sources, turn: tuple(-x for x in turned(self, sources, turn)))
    tried = _tried("rotation", "eager", lambda: _rotation("eager", CPU))
    assert tried.status == "failed"
    assert "differs by" in tried.detail


def test_a_path_of_attention_that_is_off_fails_and_names_the_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "blockwise", lambda call: blockwise(call) + 0.01)
    with pytest.raises(ClauseError, match="alibi differs by"):
        _attention("blocks", CPU)


def test_an_encoding_that_breaks_its_contract_fails_by_the_name_of_the_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rotary, "rotate_query", lambda self, q, positions: 2 * q)
    tried = _tried("contract", "rotary", lambda: _contract(Rotary))
    assert tried.status == "failed"
    assert "shift_invariance" in tried.detail


def test_what_a_device_gives_is_compared_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    _on_device(Learned(64, 24), CPU)
    embed, calls = Learned.embed, []

    def worse_every_second_time(self: Learned, x: Tensor, positions: Tensor) -> Any:
        calls.append(1)
        return embed(self, x, positions) + 0.01 * (len(calls) % 2 == 0)

    monkeypatch.setattr(Learned, "embed", worse_every_second_time)
    with pytest.raises(ClauseError, match=r"embed differs by 0\.01"):
        _on_device(Learned(64, 24), CPU)


def test_what_cannot_be_tried_here_has_a_reason() -> None:
    if torch.cuda.is_available():
        pytest.skip("a GPU can try it")
    tried = _tried("rotation", "triton", lambda: _rotation("triton", CPU))
    assert (tried.status, bool(tried.detail)) == ("not here", True)


def test_a_device_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(GnomonError, match="There is no device 'nonsense' here"):
        list(selftest.selftest("nonsense"))
    assert "There is no device 'cuda:7'" in sentence(gnomon("selftest", "--device", "cuda:7"))


def test_the_exit_code_is_1_when_something_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "selftest", lambda device: iter([Tried("rotation", "native", "failed", "off", 0.1)]))
    ran = gnomon("selftest")
    assert ran.code == 1
    assert "1 failed" in ran.stdout
