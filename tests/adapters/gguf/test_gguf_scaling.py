"""The model of a GGUF file turns by the scaling that the file states: formulas in float64, against the real module."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.adapters.gguf.config import gguf_config
from gnomon.adapters.gguf.divisors import with_lists
from gnomon.adapters.gguf.scaling import scaling_of
from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.runner import chosen, run_all
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

BASE, PAIRS = 5e5, 8
PLAIN = [BASE ** (-2 * i / 16) for i in range(PAIRS)]
SHORT, LONG = [1.0 + i / 8 for i in range(PAIRS)], [1.0 + i for i in range(PAIRS)]
LINEAR = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 12}
WIDTH = {"attention.key_length": 16}
LONGROPE = {"rope.scaling.type": "longrope", "rope.scaling.original_context_length": 12}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _yarn(factor: float, original: int) -> list[float]:
    """Peng et al. 2023, with the ends of the ramp rounded outwards, pair by pair."""
    low, high = (16 * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(BASE)) for turns in (32, 1))
    low, high = max(math.floor(low), 0), min(math.ceil(high), 15)
    share = [min(max((i - low) / (high - low), 0.0), 1.0) for i in range(PAIRS)]
    return [w * (1 - g) + w / factor * g for w, g in zip(PLAIN, share, strict=True)]


def _llama3(factor: float, original: int) -> list[float]:
    """The three bands of Llama 3.1, pair by pair."""
    found = []
    for w in PLAIN:
        turns = original * w / (2 * math.pi)
        smooth = min(max((turns - 1) / (4 - 1), 0.0), 1.0)
        found.append((1 - smooth) * w / factor + smooth * w)
    return found


def _list(values: list[float]) -> Any:
    return np.array(values, dtype=np.float32)


def _rotary(path: Path, more: dict[str, Any], lists: dict[str, Any], length: int) -> tuple[list[float], float]:
    """What the model of the file turns by at this length."""
    write_gguf(path, "llama", {**llama_metadata(), **more}, {**llama_tensors(), **lists})
    module: Any = load_subject(path).module
    module(torch.zeros(1, length, dtype=torch.int64))
    rotary = module.model.rotary_emb
    return rotary.inv_freq.double().tolist(), rotary.attention_scaling


BOTH = {"rope_factors_short.weight": _list(SHORT), "rope_factors_long.weight": _list(LONG)}
L3 = {"rope_freqs.weight": _list([p / w for p, w in zip(PLAIN, _llama3(8.0, 8192), strict=True)])}
GIVEN = {"rope_freqs.weight": _list(LONG)}
MAGNITUDE = 0.1 * math.log(4) + 1
TABLE: dict[str, tuple[dict[str, Any], dict[str, Any], int, list[float], float]] = {
    "linear": (LINEAR, {}, 5, [w / 4 for w in PLAIN], 1.0),
    "linear, which is the type of a file without one": (
        {"rope.scaling.factor": 4.0},
        {},
        5,
        [w / 4 for w in PLAIN],
        1.0,
    ),
    "yarn": (YARN, {}, 5, _yarn(4.0, 12), MAGNITUDE),
    "yarn, once more on cos and sin": (
        YARN | {"rope.scaling.attn_factor": 1.5},
        {},
        5,
        _yarn(4.0, 12),
        1.5 * MAGNITUDE,
    ),
    "longrope, short": (LONGROPE, BOTH, 12, [w / d for w, d in zip(PLAIN, SHORT, strict=True)], 1.0),
    "longrope, long": (
        LONGROPE | {"rope.scaling.attn_factor": 1.25},
        BOTH,
        13,
        [w / d for w, d in zip(PLAIN, LONG, strict=True)],
        1.25,
    ),
    "lists without the type": ({}, BOTH, 13, PLAIN, 1.0),
    "divisors of Llama 3": ({"context_length": 131072}, L3, 5, _llama3(8.0, 8192), 1.0),
    "divisors of nobody": ({}, GIVEN, 5, [w / d for w, d in zip(PLAIN, LONG, strict=True)], 1.0),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_model_turns_by_what_the_file_states(name: str, tmp_path: Path) -> None:
    more, lists, length, expected, attention = TABLE[name]
    inverse, factor = _rotary(tmp_path / "a.gguf", more, lists, length)
    assert inverse == pytest.approx(expected, rel=2e-6)
    assert factor == pytest.approx(attention, rel=1e-6)


def test_the_cache_keeps_a_file_with_another_scaling_apart(tmp_path: Path, cache: Path) -> None:
    for more, expected in ((YARN, _yarn(4.0, 12)), ({}, PLAIN), (LINEAR, [w / 4 for w in PLAIN])):
        assert _rotary(tmp_path / "same.gguf", more, {}, 5)[0] == pytest.approx(expected, rel=2e-6)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("name", ["yarn", "longrope, short", "divisors of Llama 3"])
def test_the_doctor_finds_nothing_wrong_with_a_scaled_file(name: str, tmp_path: Path) -> None:
    more, lists, *_ = TABLE[name]
    path = write_gguf(tmp_path / "a.gguf", "llama", {**llama_metadata(), **more}, {**llama_tensors(), **lists})
    results = run_all(chosen("PE1,PE2", None), load_subject(path))
    assert [str(result) for result in results if result.status in ("failed", "crashed")] == []
    assert sum(result.status == "passed" for result in results) > 10


def test_a_phi_3_scaled_by_yarn_gets_lists_because_its_class_reads_nothing_else() -> None:
    metadata = {"general.architecture": "phi3"} | {f"phi3.{key}": v for key, v in (llama_metadata() | YARN).items()}
    scaling = scaling_of(with_lists(gguf_config(metadata), metadata, {}))
    assert scaling is not None
    assert scaling.inverse.tolist() == pytest.approx(_yarn(4.0, 12), rel=1e-9)
    assert (scaling.block["rope_type"], scaling.block["attention_factor"]) == ("longrope", pytest.approx(MAGNITUDE))
    made = [p / d for p, d in zip(PLAIN, scaling.block["long_factor"], strict=True)]
    assert made == pytest.approx(_yarn(4.0, 12), rel=1e-9)
    put = scaling.put({"rope_parameters": {"rope_theta": BASE}, "original_max_position_embeddings": 4096})
    assert (put["rope_parameters"]["rope_theta"], put["original_max_position_embeddings"]) == (BASE, 48)


def test_only_full_attention_is_scaled_where_kinds_of_layers_differ() -> None:
    metadata = {f"gemma3.{key}": value for key, value in (llama_metadata() | WIDTH | LINEAR).items()}
    scaling = scaling_of(gguf_config({"general.architecture": "gemma3"} | metadata))
    assert scaling is not None
    assert scaling.inverse.tolist() == pytest.approx([w / 4 for w in PLAIN], rel=1e-9)
    kinds = {kind: {"rope_theta": 1.0} for kind in ("full_attention", "sliding_attention")}
    put = scaling.put({"rope_parameters": kinds})["rope_parameters"]
    assert (put["full_attention"]["factor"], put["sliding_attention"]) == (4.0, {"rope_theta": 1.0})


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another rule": ({"rope.scaling.type": "dynamic", "rope.scaling.factor": 2.0}, {}, "does not build"),
    "yarn without a factor": ({"rope.scaling.type": "yarn"}, {}, "without a factor"),
    "lists and a factor": (LONGROPE | {"rope.scaling.factor": 2.0}, BOTH, "only the lists fit"),
    "lists too short": (LONGROPE, {name: v[:3] for name, v in BOTH.items()}, "cannot be computed"),
    "a factor below one": (YARN | {"rope.scaling.factor": -4.0}, {}, "cannot be computed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_model_that_cannot_be_built_truly_is_not_run(name: str, tmp_path: Path) -> None:
    more, lists, said = REFUSED[name]
    path = write_gguf(tmp_path / "a.gguf", "llama", {**llama_metadata(), **more}, {**llama_tensors(), **lists})
    with pytest.raises(MissingEvidence, match=said):
        _ = load_subject(path).module


def test_a_class_that_passes_over_the_scaling_is_found_out() -> None:
    metadata = {f"llama.{key}": value for key, value in (llama_metadata() | LINEAR).items()}
    scaling = scaling_of(gguf_config({"general.architecture": "llama"} | metadata))
    assert scaling is not None
    deaf = torch.nn.Module()
    deaf.register_buffer("inv_freq", torch.tensor(PLAIN))
    with pytest.raises(MissingEvidence, match="without its scaling"):
        scaling.require_in(deaf)
