"""PE404: a sequence leaves something on the model that changes the next one."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_caches import Filling, Keeping
from tests.helpers.gallery_decoding import Core, Learning, Returning, example, tokens
from tests.helpers.healthy import MODELS
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class KeepsTheOffset(Returning):
    """Counts all tokens it was ever fed through a cache, and starts a sequence from there."""

    def __init__(self) -> None:
        super().__init__()
        self.fed = 0

    def places(self, tokens: Tensor, past: int) -> Tensor:
        start = self.fed if past else 0
        self.fed = start + tokens.shape[1] if past else self.fed + tokens.shape[1]
        return torch.arange(start, start + tokens.shape[1])[None]


class KeepsTheLongestTable(Toy):
    """Divides positions by the longest length seen so far."""

    longest = 1

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        self.longest = max(self.longest, tokens.shape[1])
        x: Tensor = self.words(tokens) + self.positions(ids) * tokens.shape[1] / self.longest
        return x


def test_an_offset_that_is_never_reset_is_found() -> None:
    result = examine("PE404", tokens(KeepsTheOffset()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert ", decoding of a short sequence differs by " in finding.message
    assert finding.measured["effect"] > 0.01
    assert "reset at the start of a sequence" in finding.fix


def test_a_scale_that_a_long_sequence_leaves_is_found_without_a_cache() -> None:
    finding = only_finding(examine("PE404", KeepsTheLongestTable()))
    assert finding.measured["after"] == "a longer sequence"
    assert finding.message.startswith("after a longer sequence, one pass of a short sequence differs by ")


@pytest.mark.parametrize("kind", [Returning, Learning, Keeping, Filling])
def test_hand_written_caches_pass(kind: type[Core]) -> None:
    result = examine("PE404", tokens(kind()))
    assert result.status == "passed", (result.detail, result.findings)
    assert len(result.measured) == 4


@pytest.mark.parametrize("name", ["llama", "llama, dynamic", "phi3, longrope", "decoder, rotary dynamic", "bert"])
def test_healthy_families_pass(name: str) -> None:
    assert examine("PE404", MODELS[name]()).status == "passed"


def test_a_module_that_offers_to_forget_is_asked_to() -> None:
    class Forgets(KeepsTheOffset):
        def reset_cache(self) -> None:
            self.fed = 0

    class Resets(Forgets):
        def places(self, tokens: Tensor, past: int) -> Tensor:
            return super().places(tokens, past) if past else self.restart(tokens)

        def restart(self, tokens: Tensor) -> Tensor:
            self.fed = tokens.shape[1]
            return torch.arange(self.fed)[None]

    assert examine("PE404", tokens(Resets())).status == "passed"


def test_what_an_example_leaves_is_found() -> None:
    class Shifted(ToyDecoder):
        shift: Any = None

        def forward(self, tokens: Tensor, extra: Tensor | None = None) -> Tensor:  # type: ignore[override]
            self.shift = extra if extra is not None else self.shift
            ids = torch.arange(tokens.shape[1]).expand_as(tokens)
            return super().forward(tokens, position_ids=ids + (3 if self.shift is not None else 0))

    finding = only_finding(examine("PE404", (Shifted(), {**example(), "extra": torch.ones(2, 12)})))
    assert finding.measured["after"] == "the example"


def test_the_model_under_examination_is_left_as_it_was() -> None:
    target, given = tokens(KeepsTheOffset())
    examine("PE404", (target, given))
    assert target.fed == 0
