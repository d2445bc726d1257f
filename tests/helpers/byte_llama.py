"""A small Llama that has read a little Python, byte by byte, and folders of it with other rotary settings."""

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import torch

from gnomon.lab.data.stdlib import standard_library

TRAINED = 64  #: tokens of the rows that it was trained on
STEPS, ROWS = 100, 12
SIZES = {
    "vocab_size": 256,
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "max_position_embeddings": TRAINED,
    "rope_theta": 1000.0,
    "tie_word_embeddings": True,
}


def letters(text: str) -> list[int]:
    """Bytes as ids."""
    return list(text.encode())


@cache
def trained_weights() -> dict[str, torch.Tensor]:
    """The weights after some seconds of training on rows of `TRAINED` bytes; the same in every process."""
    before = torch.get_num_threads(), torch.random.get_rng_state()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        return _trained()
    finally:
        torch.set_num_threads(before[0])
        torch.random.set_rng_state(before[1])


def byte_llama(rope: dict[str, Any] | None = None, longest: int = TRAINED) -> Any:
    """The trained model under other rotary settings (None: those it was trained with)."""
    model = _built({"rope_parameters": rope, "max_position_embeddings": longest} if rope else {})
    model.load_state_dict(trained_weights())
    return model.eval()


def save_byte_llama(folder: Path, rope: dict[str, Any] | None = None, longest: int = TRAINED) -> Path:
    """As `save_pretrained` writes it, with a tokenizer of bytes."""
    byte_llama(rope, longest).save_pretrained(folder)
    save_letters(folder)
    return folder


def save_letters(folder: Path, *, special: bool = False) -> None:
    """A tokenizer whose ids are the 256 bytes, in files as transformers reads them; with `special`, [CLS] and [SEP]."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    vocabulary = {character: byte for byte, character in bytes_to_unicode().items()}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    names = {}
    if special:
        tokenizer.add_special_tokens(["[CLS]", "[SEP]", "[MASK]"])
        pair = [("[CLS]", 256), ("[SEP]", 257)]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=pair)
        names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


def write_text(path: Path, characters: int) -> Path:
    """Python that the model has not been trained on."""
    path.write_text(standard_library().test.decode(errors="ignore")[:characters], encoding="utf-8")
    return path


def set_rope(folder: Path, rope: dict[str, Any], longest: int) -> None:
    """Other rotary settings in a folder's config.json."""
    path = folder / "config.json"
    fields = json.loads(path.read_text()) | {"rope_parameters": rope, "max_position_embeddings": longest}
    path.write_text(json.dumps(fields))


def _built(more: dict[str, Any]) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**{**SIZES, **more}))


def _trained() -> dict[str, torch.Tensor]:
    model = _built({}).train()
    text, drawn = standard_library().train, random.Random(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=STEPS)
    for _ in range(STEPS):
        starts = [drawn.randrange(len(text) - TRAINED) for _ in range(ROWS)]
        rows = torch.tensor([list(text[start : start + TRAINED]) for start in starts])
        loss = model(input_ids=rows, labels=rows).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
