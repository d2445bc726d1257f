"""PE412: a cache that drops old tokens does not settle."""

import torch
from torch import Tensor

from tests.helpers.gallery_caches import Sinking
from tests.helpers.gallery_decoding import Returning, tokens
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine, only_finding


class Absolute(Sinking):
    """All keys keep their place in the whole text, queries have theirs in the window."""

    def key_places(self, total: int, new: int, fed: int) -> Tensor:
        return torch.arange(fed - total, fed)[None]


class RunsOut(Sinking):
    def key_places(self, total: int, new: int, fed: int) -> Tensor:
        if fed > 20:
            raise IndexError("index out of range in self")
        return super().key_places(total, new, fed)


class KeepsTheChunk(Sinking):
    """After a chunk the memory is as long as the chunk, if that is longer."""

    def cut(self, x: Tensor, room: int, new: int) -> Tensor:
        return super().cut(x, max(room, new) if new > 1 else room, new)


def test_places_that_drift_are_found() -> None:
    result = examine("PE412", tokens(Absolute()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.measured["window"] == 6
    assert "outputs still change by" in finding.message
    assert "consecutive positions in the window" in finding.fix


def test_positions_that_run_out_are_found() -> None:
    finding = only_finding(examine("PE412", tokens(RunsOut())))
    assert finding.message.startswith("the cache holds 6 tokens, yet decoding fails after 20: ")


def test_a_memory_that_grows_with_the_chunk_is_a_warning() -> None:
    result = examine("PE412", tokens(KeepsTheChunk()))
    assert result.severity == "warning"
    assert "fed 8 tokens at a time, the cache holds 8 tokens, and 6 when fed one" in only_finding(result).message


def test_windows_with_and_without_sinks_pass() -> None:
    for target in (tokens(Sinking()), tokens(Sinking(sinks=0, window=9)), MODELS["gemma3"]()):
        result = examine("PE412", target)
        assert result.status == "passed", (result.detail, result.findings)
        assert len(result.measured) == 3


def test_a_window_shorter_than_the_text_is_no_fault_of_its_steps() -> None:
    result = examine("PE403", tokens(Sinking()))
    assert (result.status, result.detail) == (
        "not-applicable",
        "the cache holds 6 tokens and drops older ones; PE412 examines it",
    )


def test_a_cache_that_keeps_everything_is_not_judged() -> None:
    for target in (tokens(Returning()), MODELS["llama"]()):
        result = examine("PE412", target)
        assert result.status == "not-applicable"
        assert result.detail.startswith("the cache keeps every token that it is fed")
