"""PE407: going on from a cache that was cut back differs from one pass."""

import pytest
import torch
from torch import Tensor

from gnomon.encodings import Rotary
from tests.helpers.gallery_caches import Filling, Keeping, Offsets
from tests.helpers.gallery_decoding import Core, Returning, tokens
from tests.helpers.healthy import MODELS, decoder
from tests.helpers.toys import examine, only_finding


class CutsKeysOnly(Filling):
    """The cache forgets to move its offset back."""

    def make_cache(self) -> Offsets:
        class Cut(Offsets):
            def crop(self, count: int) -> None:
                offset = self.offset
                super().crop(count)
                self.place = offset

        return Cut()

    def turned(self, layer: int, qkv: tuple[Tensor, ...], cache: Offsets) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = qkv
        start = getattr(cache, "place", cache.offset)
        positions = (start + torch.arange(q.shape[2]))[None]
        k, v = cache.add(layer, self.rotate(k, positions), v)
        return self.rotate(q, positions), k, v


def test_an_offset_that_stays_where_it_was_is_found() -> None:
    result = examine("PE407", tokens(CutsKeysOnly()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.message.startswith("cut back by crop to 4 tokens and 0 of 3 drafted ones, it goes on ")
    assert finding.fix.endswith("the next token has position 4")
    assert finding.measured["effect"] > 0.01


@pytest.mark.parametrize("kind", [Filling, Keeping])
def test_hand_written_caches_that_can_be_cut_pass(kind: type[Core]) -> None:
    result = examine("PE407", tokens(kind()))
    assert result.status == "passed", (result.detail, result.findings)
    assert len(result.measured) == 4


@pytest.mark.parametrize("name", ["llama", "gpt-2", "bloom", "mpt", "gemma3"])
def test_transformers_caches_pass(name: str) -> None:
    result = examine("PE407", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_a_cache_that_cannot_be_cut_is_not_judged() -> None:
    for target in (tokens(Returning()), decoder(Rotary(8))):
        result = examine("PE407", target)
        assert (result.status, result.detail) == ("not-applicable", "the cache offers no method to cut it back")
