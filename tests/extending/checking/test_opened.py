from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gnomon.errors import GnomonError
from gnomon.extending.checking.opened import open_model
from gnomon.extending.checking.tokens import Tokens
from tests.helpers.byte_llama import TRAINED, byte_llama, letters
from tests.helpers.tiny_transformers import save_tiny, tiny_model

TOKENS = Tokens(letters)


def small(model_type: str, auto: str) -> Any:
    import transformers

    config = tiny_model(model_type, vocab_size=260, max_position_embeddings=40).config
    return getattr(transformers, auto).from_config(config)


@pytest.mark.parametrize(
    ("model_type", "auto", "kind"),
    [
        ("llama", "AutoModelForCausalLM", "causal"),
        ("llama", "AutoModel", "encoder"),
        ("bert", "AutoModelForMaskedLM", "masked"),
        ("bert", "AutoModel", "encoder"),
    ],
)
def test_the_kind_is_measured(model_type: str, auto: str, kind: str) -> None:
    model = open_model(small(model_type, auto), TOKENS)
    assert (model.kind, model.length) == (kind, 40)


def test_a_module_of_another_make_is_known_by_what_it_does() -> None:
    model = open_model(nn.Sequential(nn.Embedding(256, 8), nn.Linear(8, 256)), TOKENS)
    assert (model.kind, model.length) == ("causal", None)


def test_a_model_in_memory_is_left_in_the_mode_it_was_in() -> None:
    module = byte_llama().train()
    model = open_model(module, TOKENS)
    assert (module.training, model.module.training) == (True, False)


def test_a_row_stands_between_its_special_tokens() -> None:
    model = open_model(byte_llama(), Tokens(letters, (1, 2), (3,)))
    assert model.row([7]).tolist() == [1, 2, 7, 3]
    assert model.row([7]).dtype is torch.int64
    assert model.length == TRAINED


def test_an_encoder_with_a_decoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="an encoder with a decoder"):
        open_model(save_tiny(tmp_path, "t5"), TOKENS)


def test_a_folder_without_weights_is_refused_in_a_sentence(tmp_path: Path) -> None:
    save_tiny(tmp_path, "llama")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(GnomonError, match=r"cannot be run: the folder has no weights .*\.$"):
        open_model(tmp_path, TOKENS)
