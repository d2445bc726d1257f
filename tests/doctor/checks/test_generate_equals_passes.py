"""PE411: a model's own `generate` chooses other tokens than one pass after another would."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_caches import Generating, Keeping
from tests.helpers.gallery_decoding import tokens
from tests.helpers.healthy import MODELS
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class StartsWhereTheLastOneEnded(Generating):
    """The first generation is right, the next one begins at the offset that it left."""

    left = 0

    def forward(self, tokens: Tensor, start_pos: int = 0) -> Tensor:
        start_pos = start_pos if start_pos or tokens.shape[1] > 20 else 0
        return super().forward(tokens, start_pos + self.left)

    def generate(self, tokens: Tensor, *, max_new_tokens: int) -> Tensor:
        out: Tensor = super().generate(tokens, max_new_tokens=max_new_tokens)
        self.left = 3
        return out


class Sampling(ToyDecoder):
    """Draws each token, as tutorials do, through a window of the last tokens, without a cache."""

    def choose(self, logits: Tensor, top_k: int | None) -> Tensor:
        if top_k is not None:
            logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
        return torch.multinomial(logits.softmax(-1), 1)

    def generate(self, idx: Tensor, max_new_tokens: int, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
        for _ in range(max_new_tokens):
            idx = torch.cat((idx, self.choose(self(idx)[:, -1] / temperature, top_k)), dim=1)
        return idx


class SamplesAnyway(Sampling):
    def choose(self, logits: Tensor, top_k: int | None) -> Tensor:
        return super().choose(logits, None)


def test_an_offset_that_the_last_generation_left_is_found() -> None:
    result = examine("PE411", tokens(StartsWhereTheLastOneEnded()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "generate"
    assert "its calls use positions 9, 10, 11, not positions 6, 7, 8" in finding.message
    assert finding.fix.startswith("give token n position n")


@pytest.mark.parametrize("name", ["llama", "llama, dynamic", "gpt-2", "opt", "bloom", "decoder, rotary half"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE411", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert result.measured[0].value == 8


def test_a_checkpoint_s_penalties_do_not_count() -> None:
    target: Any = MODELS["llama"]()
    target.generation_config.repetition_penalty = 3.0
    target.generation_config.temperature = 0.2
    assert examine("PE411", target).status == "passed"
    assert target.generation_config.repetition_penalty == 3.0


def test_hand_written_loops_pass() -> None:
    for target in (tokens(Generating()), Sampling()):
        result = examine("PE411", target)
        assert result.status == "passed", (result.detail, result.findings)


def test_a_loop_that_cannot_be_made_greedy_is_not_judged() -> None:
    result = examine("PE411", SamplesAnyway())
    assert result.detail == "generate draws tokens at random, and no argument is known that stops it"


def test_models_without_generate_are_not_judged() -> None:
    for target in (tokens(Keeping()), Toy()):
        assert examine("PE411", target).detail == "the model has no method generate"


def test_a_recurrent_model_has_no_positions_to_count() -> None:
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32}
    model = transformers.RwkvForCausalLM(transformers.RwkvConfig(**sizes, context_length=64)).eval()
    result = examine("PE411", model)
    assert (result.status, result.detail) == ("not-applicable", "no attention was seen in the forward")
