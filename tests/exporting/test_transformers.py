"""Models of transformers, exported as they are: their own code is traced, and the graph equals it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from torch import nn

import gnomon
from gnomon.exporting import Exported
from gnomon.exporting.graphs.foreign import ForeignGraph
from gnomon.exporting.result import Case
from tests.helpers.hook_graphs import run

SIZES = {"vocab_size": 29, "num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2}
OWN = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GIVEN, MASKED = ["input_ids", "attention_mask", "position_ids"], ["input_ids", "attention_mask"]
MODELS: dict[str, tuple[Callable[[], nn.Module], list[str]]] = {
    "bert": (
        lambda: transformers.BertModel(
            transformers.BertConfig(**SIZES, **OWN, intermediate_size=16, max_position_embeddings=40)
        ),
        GIVEN,
    ),
    "gpt2": (
        lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=29, n_embd=16, n_layer=1, n_head=2, n_positions=40, **OWN)
        ),
        GIVEN,
    ),
    "llama": (
        lambda: transformers.LlamaForCausalLM(
            transformers.LlamaConfig(**SIZES, **OWN, intermediate_size=16, num_key_value_heads=1)
        ),
        GIVEN,
    ),
    "t5": (
        lambda: transformers.T5EncoderModel(
            transformers.T5Config(vocab_size=29, d_model=16, num_layers=1, num_heads=2, d_kv=8, d_ff=16)
        ),
        MASKED,
    ),
    "bloom": (
        lambda: transformers.BloomForCausalLM(
            transformers.BloomConfig(vocab_size=29, hidden_size=16, n_layer=1, n_head=2, **OWN)
        ),
        MASKED,
    ),
    "mpt": (
        lambda: transformers.MptForCausalLM(
            transformers.MptConfig(vocab_size=29, d_model=16, n_layers=1, n_heads=2, max_seq_len=40)
        ),
        MASKED,
    ),
    "xlnet": (
        lambda: transformers.XLNetLMHeadModel(
            transformers.XLNetConfig(vocab_size=29, d_model=16, n_layer=1, n_head=2, d_inner=16, **OWN)
        ),
        MASKED,
    ),
}


def redrawn(build: Callable[[], nn.Module]) -> nn.Module:
    model = build().eval()
    generator = torch.Generator().manual_seed(9)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4, generator=generator)
    return model


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Exported]:
    model = redrawn(MODELS["gpt2"][0])
    return model, gnomon.export(model, tmp_path_factory.mktemp("gpt2") / "model.onnx")


@pytest.mark.parametrize("name", [name for name in MODELS if name != "gpt2"])
def test_the_graph_is_the_model(name: str, tmp_path: Path) -> None:
    build, inputs = MODELS[name]
    model = redrawn(build)
    exported = gnomon.export(model, tmp_path / "model.onnx")
    assert exported.ok
    assert exported.largest_difference < 1e-5
    assert [port.name for port in exported.inputs] == inputs
    assert all(port.shape == ("batch", "sequence") for port in exported.inputs)
    given = ForeignGraph(model).draw(Case(2, 13, padding=4), seed=8)
    [found] = run(exported.path, given).values()
    with torch.no_grad():
        expected = model(**given)[0]
    real = given["attention_mask"].bool()
    torch.testing.assert_close(found[real], expected[real], atol=5e-5, rtol=1e-5)


def test_positions_may_start_anywhere_in_the_table(gpt2: tuple[nn.Module, Exported]) -> None:
    model, exported = gpt2
    assert [port.name for port in exported.inputs] == GIVEN
    given = ForeignGraph(model).draw(Case(3, 9, first=31), seed=8)
    [found] = run(exported.path, given).values()
    with torch.no_grad():
        torch.testing.assert_close(found, model(**given).logits, atol=5e-5, rtol=1e-5)


@pytest.mark.parametrize("position", [-1, 40])
def test_a_position_that_the_table_lacks_is_an_error_as_it_is_in_the_model(
    gpt2: tuple[nn.Module, Exported], position: int
) -> None:
    model, exported = gpt2
    given = ForeignGraph(model).draw(Case(1, 3), seed=8)
    given["position_ids"][0, 1] = position
    with pytest.raises(IndexError):
        model(**given)
    with pytest.raises(Exception, match="out of data bounds"):
        run(exported.path, given)
