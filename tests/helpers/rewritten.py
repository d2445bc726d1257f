"""Small checkpoint folders for tests of rewriting, and the hashes of what is in them."""

import hashlib
import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from gnomon.adapters.checkpoints.rewriting import Changed


def tensors() -> dict[str, Tensor]:
    """One of each kind: wide and narrow floats, ids, none at all and a scalar."""
    made = torch.Generator().manual_seed(7)
    return {
        "embed.weight": torch.randn(6, 4, generator=made),
        "layer.half": torch.randn(3, 5, generator=made).to(torch.bfloat16),
        "layer.eight": torch.randn(4, 4, generator=made).to(torch.float8_e4m3fn),
        "layer.double": torch.randn(2, 3, generator=made, dtype=torch.float64),
        "layer.ids": torch.arange(7),
        "layer.empty": torch.zeros(0, 3),
        "layer.scalar": torch.tensor(2.5),
    }


def digests(path: Path) -> dict[str, str]:
    """The SHA-256 of each tensor's bytes, read by the library."""
    with safe_open(path, framework="pt") as held:
        raw = {name: held.get_tensor(name).contiguous().reshape(-1).view(torch.uint8) for name in held.keys()}  # noqa: SIM118
    return {name: hashlib.sha256(bytes(values.tolist())).hexdigest() for name, values in raw.items()}


def folder_of(folder: Path, *, shards: int = 1) -> Path:
    """A folder with these tensors in one file, or in shards with an index."""
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "tokenizer.json").write_text("{}")
    held = list(tensors().items())
    if shards == 1:
        save_file(dict(held), folder / "model.safetensors", metadata={"format": "pt", "by": "a test"})
        return folder
    names = [f"model-{i + 1:05d}-of-{shards:05d}.safetensors" for i in range(shards)]
    where: dict[str, str] = {}
    for i, name in enumerate(names):
        part = dict(held[i::shards])
        save_file(part, folder / name, metadata={"format": "pt"})
        where |= dict.fromkeys(part, name)
    count = sum(tensor.numel() for _, tensor in held)
    index = {"metadata": {"total_size": 1, "total_parameters": count, "own": "kept"}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def doubled(table: Tensor) -> Tensor:
    """Twice as many rows."""
    return torch.cat((table, table + 1))


DOUBLED = {"embed.weight": Changed((12, 4), doubled)}
