"""PE403: decoding through a cache gives other outputs than one pass."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import Rotary
from tests.helpers.gallery_caches import Filling, Keeping
from tests.helpers.gallery_decoding import Core, Learning, Masked, Returning, tokens
from tests.helpers.healthy import FOREIGN, MODELS, decoder
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import ToyDecoder, examine, llama, only_finding


def restarting() -> nn.Module:
    """A Llama whose rotary embedding counts the tokens of each call from 0."""
    model = llama()
    plain = model.model.rotary_emb.forward
    model.model.rotary_emb.forward = lambda x, position_ids: plain(x, position_ids - position_ids[:, :1])
    return model  # type: ignore[no-any-return]


def growing() -> nn.Module:
    """A Llama whose frequencies change with the length that a call has seen: old keys keep their old angles."""
    model = llama()
    rotary = model.model.rotary_emb
    plain, base = rotary.forward, rotary.inv_freq.clone()

    def forward(x: Tensor, position_ids: Tensor) -> Any:
        rotary.inv_freq = base / (1 + int(position_ids.max()) // 4)
        return plain(x, position_ids)

    rotary.forward = forward
    return model  # type: ignore[no-any-return]


class PaddingForgotten(nn.Module):
    """gnomon's decoder behind a forward that drops the mask of every call but the first."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = decoder(Rotary(8))
        self.new_cache = self.decoder.new_cache

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None, cache: Any = None) -> Tensor:
        first = attention_mask is not None and not bool(attention_mask.bool().all())
        out: Tensor = self.decoder(ids, attention_mask=attention_mask if not first else None, cache=cache)
        return out


@pytest.mark.parametrize("build", [restarting, growing])
def test_positions_that_do_not_fit_the_cache_are_found(build: Any) -> None:
    result = examine("PE403", build())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "the cache"
    assert finding.measured["effect"] > 0.01
    assert finding.message.startswith("decoding one token at a time differs from one pass by ")
    assert "start the positions of new tokens at the cache's length" in finding.fix


def test_padding_that_the_cache_forgets_is_found() -> None:
    result = examine("PE403", PaddingForgotten())
    finding = only_finding(result)
    assert finding.message.startswith("a left-padded batch decoded step by step differs from its rows alone by ")
    assert finding.measured["pads"] == 4
    assert "the number of real tokens so far" in finding.fix


@pytest.mark.parametrize("name", ["llama", "gpt-2", "gpt-j", "bloom", "mpt", "gemma3", "decoder, alibi"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE403", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert len(result.measured) >= 5


def test_an_encoder_and_a_model_without_a_cache_are_not_judged() -> None:
    assert examine("PE403", FOREIGN["bert"]()).status == "not-applicable"
    result = examine("PE403", ToyDecoder())
    assert (result.status, result.detail) == ("not-applicable", "the model has no cache argument")


def test_a_cache_of_states_without_attention_is_not_judged() -> None:
    result = examine("PE403", tiny_model("mamba"))
    assert (result.status, result.detail) == ("not-applicable", "no attention was seen in the forward")


@pytest.mark.parametrize("kind", [Returning, Learning, Keeping, Filling, Masked])
def test_hand_written_caches_of_every_kind_pass(kind: type[Core]) -> None:
    result = examine("PE403", tokens(kind()))
    assert result.status == "passed", (result.detail, result.findings)
    assert len(result.measured) >= 5


def test_the_message_names_the_position_that_was_used_and_the_right_one() -> None:
    class Late(Returning):
        def places(self, tokens: Tensor, past: int) -> Tensor:
            return super().places(tokens, past + 7 if past else 0)

    finding = only_finding(examine("PE403", tokens(Late())))
    assert finding.message.endswith("; after 1 tokens it uses position 8, not position 1")


def test_a_causal_mask_that_forgets_the_cached_keys_in_a_chunk_is_only_a_warning() -> None:
    """Such a model may never be meant to take more than one token after the prompt."""

    class TopLeft(Returning):
        def visible(self, query: Tensor, key: Tensor) -> Tensor:
            new, total = query.shape[1], key.shape[1]
            return torch.ones(new, total, dtype=torch.bool).tril(0 if new > 1 else total)[None, None]

    result = examine("PE403", tokens(TopLeft()))
    finding = only_finding(result)
    assert result.severity == "warning"
    assert "in chunks" in finding.message
    assert "query i of a call sees the cached keys and the new keys up to i" in finding.fix


def test_a_model_that_decodes_one_row_only_is_told() -> None:
    class OneRow(Returning):
        def places(self, tokens: Tensor, past: int) -> Tensor:
            if past and len(tokens) > 1:
                raise ValueError("offsets (2,) do not fit")
            return super().places(tokens, past)

    finding = only_finding(examine("PE403", tokens(OneRow())))
    assert finding.message.startswith("one row decodes, two rows do not: ")
    assert "offsets (2,) do not fit" in finding.message


def test_a_cache_that_does_not_come_back_is_not_judged() -> None:
    class Forgetful(ToyDecoder):
        def forward(self, tokens: Tensor, past_key_values: Any = None, use_cache: bool = False) -> Tensor:  # type: ignore[override]
            return super().forward(tokens)

    result = examine("PE403", Forgetful())
    assert result.status == "not-applicable"
    assert result.detail == "the forward took use_cache=True but returned no cache"
    assert torch.is_tensor(Forgetful()(torch.zeros(1, 3, dtype=torch.int64)))


class CountsItself(Returning):
    """An offset that the module keeps: right for one text, that of the last one for two."""

    seen = 0

    def places(self, tokens: Tensor, past: int) -> Tensor:
        start = self.seen if past else 0
        self.seen = start + tokens.shape[1]
        return torch.arange(start, self.seen)[None]


def test_an_offset_that_the_module_keeps_is_wrong_for_two_texts_in_turn() -> None:
    result = examine("PE403", tokens(CountsItself()))
    assert result.severity == "error"
    assert "two texts decoded in turn, each with its own cache" in only_finding(result).message
    assert "off the cache that is passed" in only_finding(result).fix


@pytest.mark.parametrize("kept", [False, True])
def test_texts_in_turn_pass_where_each_has_its_own_cache(kept: bool) -> None:
    target = tokens(Keeping()) if kept else tokens(Returning())
    seen = [m.name for m in examine("PE403", target).measured]
    assert any("in turn" in name for name in seen) is not kept, "a module that keeps the memory holds one text"
