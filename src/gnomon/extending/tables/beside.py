"""Files beside the weights that state a length or an image size a second time: what they say after the extension."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from gnomon.adapters.checkpoints.json_file import json_bytes, read_json_object
from gnomon.extending.tables.grids import Size

SENTENCES: Final = "sentence_bert_config.json"  #: sentence-transformers cuts inputs here
TOKENS: Final = "tokenizer.json"  #: and the tokenizers library here
IMAGES: Final = "preprocessor_config.json"
VOCABULARY_LIMIT: Final = 256 * 2**20


def texts_beside(folder: Path, length: int) -> Iterator[tuple[str, bytes, str]]:
    """Name, content and a sentence for each file that would cut inputs before `length`."""
    if (folder / SENTENCES).is_file():
        held = read_json_object(folder / SENTENCES)
        limit = held.get("max_seq_length")
        if type(limit) is int and limit < length:
            yield _file(SENTENCES, held | {"max_seq_length": length}, f"cut inputs at {limit:,} tokens")
    if (folder / TOKENS).is_file():
        held = read_json_object(folder / TOKENS, limit=VOCABULARY_LIMIT)
        cut = held.get("truncation")
        if isinstance(cut, Mapping) and type(cut.get("max_length")) is int and cut["max_length"] < length:
            word = f"cut inputs at {cut['max_length']:,} tokens"
            yield _file(TOKENS, held | {"truncation": {**cut, "max_length": length}}, word)


def images_beside(folder: Path, old: Size, new: Size) -> Iterator[tuple[str, bytes, str]]:
    """Name, content and a sentence for the file that would bring images to the `old` size, (height, width)."""
    if not (folder / IMAGES).is_file():
        return
    held = read_json_object(folder / IMAGES)
    changed = {key: _sized(held[key], old, new) for key in ("size", "crop_size") if key in held}
    if any(held[key] != value for key, value in changed.items()):
        yield _file(IMAGES, held | changed, f"made images {old[0]} x {old[1]} pixels large")


def _sized(stated: Any, old: Size, new: Size) -> Any:
    if stated == old[0] == old[1]:
        return new[0] if new[0] == new[1] else {"height": new[0], "width": new[1]}
    if stated == {"height": old[0], "width": old[1]}:
        return {"height": new[0], "width": new[1]}
    if stated == {"shortest_edge": min(old)}:
        return {"shortest_edge": max(new)}  # what is cropped to the new size afterwards is large enough
    return stated


def _file(name: str, content: Mapping[str, Any], word: str) -> tuple[str, bytes, str]:
    return name, json_bytes(content), f"{name} {word}, and goes by the new size now."
