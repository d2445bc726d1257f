"""Configs that describe no encoding end in a sentence, with what they state, before any sum is made."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.advisor import advise
from gnomon.errors import GnomonError

SMALL = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
MROPE = {"model_type": "qwen2_vl", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128}

BROKEN: list[tuple[dict[str, Any], str]] = [
    ({**SMALL, "rope_theta": 0}, "states base 0, which no position encoding can have"),
    ({**SMALL, "rope_theta": -5}, "states base -5"),
    ({**SMALL, "rope_theta": float("nan")}, "states base nan"),
    ({**SMALL, "rope_theta": float("inf")}, "states base inf"),
    ({**SMALL, "rope_theta": "big"}, "states base big"),
    ({**SMALL, "rope_scaling": {**YARN, "factor": "4"}}, "states factor 4"),
    ({**SMALL, "rope_scaling": {**YARN, "factor": True}}, "states factor True"),
    ({**SMALL, "rope_scaling": {**YARN, "factor": float("inf")}}, "states factor inf"),
    ({**SMALL, "rope_scaling": {**YARN, "factor": -4}}, "states factor -4"),
    ({**SMALL, "rope_scaling": {**YARN, "rope_type": "spiral"}}, "cannot be built: No frequencies is called 'spiral'"),
    ({**SMALL, "head_dim": 15}, "cannot be built: .* must be even, got 15"),
    ({**MROPE, "rope_scaling": {"type": "mrope", "mrope_section": ["a", 4]}}, "states sections a"),
    ({**MROPE, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 1]}}, "cannot be built: "),
    ({**SMALL, "num_attention_heads": 0}, "states num_heads 0, and a size is from 1 to 2\\^20"),
    ({**SMALL, "hidden_size": -4}, "states dim -4"),
    ({**SMALL, "num_hidden_layers": -3}, "states num_layers -3"),
    ({**SMALL, "num_key_value_heads": 3}, "states 3 key heads, which do not divide its 4 heads"),
    ({**SMALL, "max_position_embeddings": 0}, "states a trained length of 0, and one is from 1 to 2\\^40"),
    ({**SMALL, "max_position_embeddings": 10**40}, "states a trained length of 1e\\+40"),
]


@pytest.mark.parametrize("target", [None, 4096])
@pytest.mark.parametrize(("config", "reason"), BROKEN, ids=[reason for _, reason in BROKEN])
def test_a_broken_config_is_refused_with_what_it_states(
    config: dict[str, Any], reason: str, target: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(GnomonError, match=reason):
        advise(checkpoint=path, target=target)


def test_the_same_configs_unbroken_are_answered(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for config in (SMALL, {**SMALL, "rope_scaling": YARN}):
        path.write_text(json.dumps(config), encoding="utf-8")
        assert advise(checkpoint=path).best.name == "keep"
