"""Models of transformers that add a vector for each position, added by gnomon: reserved rows, padding and all."""

from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn

from gnomon import positions
from gnomon.encodings import Learned, PositionEncoding, Sinusoidal, from_hf_config
from tests.helpers.padded import IDS, MASK, TOKENS, assert_ours, drawn, hidden
from tests.helpers.weights import normal

COUNTED = torch.arange(TOKENS)[None]
BY_MASK = positions.from_mask(MASK)
#: families that count tokens past padding by their ids
PADDED = torch.where(MASK.bool(), IDS, 1)


class Replaced:
    """The vectors that a module of a foreign model adds, given by gnomon instead while it is entered."""

    def __init__(self, table: nn.Module, encoding: PositionEncoding, places: Tensor) -> None:
        self._table, self._encoding, self._places = table, encoding, places

    def __enter__(self) -> None:
        self._handle = self._table.register_forward_hook(self._vectors)

    def __exit__(self, *_: object) -> None:
        self._handle.remove()

    def _vectors(self, _: nn.Module, __: Any, theirs: Tensor) -> Tensor:
        rows = self._places.expand(len(self._places), -1)
        return self._encoding.embed(torch.zeros(len(rows), rows.shape[1], theirs.shape[-1]), rows).detach()


def learned(config: Any, table: Tensor, stack: Literal["encoder", "decoder"] | None = None) -> Learned:
    """The table that the config describes, with the weights of the model; all its rows have to be there."""
    encoding = from_hf_config(config, stack=stack, part="embedding")
    assert isinstance(encoding, Learned)
    encoding.load_state_dict({"weight": table.reshape(-1, table.shape[-1])})
    return encoding


ONE_STACK = [
    pytest.param("bert", "embeddings.position_embeddings", COUNTED, {}, id="bert"),
    pytest.param("electra", "embeddings.position_embeddings", COUNTED, {}, id="electra"),
    pytest.param("albert", "embeddings.position_embeddings", COUNTED, {}, id="albert"),
    pytest.param("distilbert", "embeddings.position_embeddings", COUNTED, {}, id="distilbert"),
    pytest.param("roberta", "embeddings.position_embeddings", BY_MASK, {"pad_token_id": 1}, id="roberta"),
    pytest.param("xlm-roberta", "embeddings.position_embeddings", BY_MASK, {"pad_token_id": 1}, id="xlm-roberta"),
    pytest.param("camembert", "embeddings.position_embeddings", BY_MASK, {"pad_token_id": 1}, id="camembert"),
    pytest.param("mpnet", "embeddings.position_embeddings", BY_MASK, {"pad_token_id": 1}, id="mpnet"),
    pytest.param("esm", "embeddings.position_embeddings", BY_MASK, {"pad_token_id": 1}, id="esm"),
    pytest.param(
        "deberta-v2", "embeddings.position_embeddings", COUNTED, {"relative_attention": True}, id="deberta-v2"
    ),
    pytest.param("gpt2", "wpe", COUNTED, {}, id="gpt2"),
    pytest.param("gpt_neo", "wpe", COUNTED, {}, id="gpt_neo"),
    pytest.param("opt", "decoder.embed_positions", BY_MASK, {"word_embed_proj_dim": 32}, id="opt"),
    pytest.param("biogpt", "embed_positions", COUNTED, {}, id="biogpt"),
]


@pytest.mark.parametrize(("model_type", "path", "places", "more"), ONE_STACK)
def test_a_learned_table(model_type: str, path: str, places: Tensor, more: dict[str, Any]) -> None:
    model = drawn({"model_type": model_type, "layer_norm_eps": 1e-5, **more})
    table: Any = model.get_submodule(path)
    encoding = learned(model.config, table.weight)
    given = {"input_ids": PADDED}

    def by_gnomon(shift: int) -> Tensor:
        with Replaced(table, encoding, places + shift):
            return hidden(model, **given)

    assert_ours(hidden(model, **given), by_gnomon(0), by_gnomon(1))


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize("model_type", ["bart", "mbart", "plbart"])
def test_a_learned_table_of_each_stack(model_type: str, stack: Literal["encoder", "decoder"]) -> None:
    model = drawn({"model_type": model_type})
    table = getattr(model, stack).embed_positions
    encoding = learned(model.config, table.weight, stack)
    given = {"decoder_input_ids": IDS.flip(1)}

    def by_gnomon(shift: int) -> Tensor:
        with Replaced(table, encoding, COUNTED + shift):
            return hidden(model, **given)

    assert_ours(hidden(model, **given), by_gnomon(0), by_gnomon(1))


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_m2m100_starts_behind_its_padding(stack: Literal["encoder", "decoder"]) -> None:
    """`padding_offset`: the first token has the sines of position 2, and transformers sets those of padding to 0."""
    model = drawn({"model_type": "m2m_100"})
    encoding = from_hf_config(model.config, stack=stack)
    assert isinstance(encoding, Sinusoidal)
    given = {"input_ids": PADDED, "decoder_input_ids": PADDED, "decoder_attention_mask": MASK}
    table = getattr(model, stack).embed_positions

    def by_gnomon(shift: int) -> Tensor:
        with Replaced(table, encoding, BY_MASK + shift):
            return hidden(model, **given)

    assert_ours(hidden(model, **given), by_gnomon(0), by_gnomon(1))


def test_whisper_listens_with_sines_and_writes_with_a_learned_table() -> None:
    model = drawn({"model_type": "whisper"})
    sines, words = from_hf_config(model.config, stack="encoder"), model.decoder.embed_positions
    assert isinstance(sines, Sinusoidal)
    given = {"input_features": normal(2, 5, 46), "decoder_input_ids": IDS, "input_ids": None}
    expected = whisper(model, given)
    rows = sines.table(torch.arange(model.config.max_source_positions))
    torch.testing.assert_close(rows, model.encoder.embed_positions.weight.data, atol=2e-6, rtol=0)
    outputs = []
    for shift in (0, 1):
        encoding = learned(model.config, words.weight, "decoder")
        with torch.no_grad():
            model.encoder.embed_positions.weight.copy_(rows.roll(shift, dims=0))
        with Replaced(words, encoding, COUNTED + shift):
            outputs.append(whisper(model, given))
    assert_ours(expected, outputs[0], outputs[1], torch.ones_like(MASK).bool())


@torch.no_grad()
def whisper(model: Any, given: dict[str, Any]) -> Tensor:
    result: Tensor = model(**{name: value for name, value in given.items() if name != "input_ids"}).last_hidden_state
    return result


@pytest.mark.parametrize(
    ("model_type", "size"),
    # DINOv2 and BEiT of 5.24 take the table of any image that is not square for one that is, and fail.
    [("vit", (12, 20)), ("vit_msn", (12, 20)), ("deit", (12, 20)), ("dinov2", (16, 16)), ("beit", (16, 16))],
)
@torch.no_grad()
def test_an_image_has_its_class_token_at_position_0_and_its_patches_row_by_row(
    model_type: str, size: tuple[int, int]
) -> None:
    """With a table of zeros the embeddings are what the table is added to."""
    model = drawn({"model_type": model_type, "image_size": list(size)})
    pixels, embeddings = normal(2, 3, *size), model.embeddings
    table = embeddings.position_embeddings
    encoding = learned(model.config, table.data)
    expected = embeddings(pixels)
    expected = expected[0] if isinstance(expected, tuple) else expected
    table.data = torch.zeros_like(table)
    bare = embeddings(pixels)
    bare = bare[0] if isinstance(bare, tuple) else bare
    places = torch.arange(bare.shape[1])[None]
    assert encoding.max_length == bare.shape[1]
    everywhere = torch.ones(bare.shape[:2]).bool()
    assert_ours(expected, encoding.embed(bare, places), encoding.embed(bare, places.flip(1)), everywhere)
