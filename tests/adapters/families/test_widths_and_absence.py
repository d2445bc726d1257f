"""Families whose configs count rotated lanes, or rotate nothing."""

from typing import Any

import pytest

from gnomon.adapters.families import claims_of

MINIMAX: dict[str, Any] = {"model_type": "minimax_m2", "hidden_size": 32, "num_attention_heads": 4, "head_dim": 16}


@pytest.mark.parametrize(
    ("stated", "width"),
    [
        ({}, 16),
        ({"rotary_dim": 8}, 8),
        ({"partial_rotary_factor": 0.25}, 4),
        ({"rotary_dim": 8, "rope_parameters": {"partial_rotary_factor": 0.25}}, 4),
        ({"rotary_dim": None, "rope_parameters": {"rope_theta": 5e6}}, 16),
    ],
)
def test_minimax_m2_counts_lanes_and_a_share_in_the_block_wins(stated: dict[str, Any], width: int) -> None:
    from transformers import MiniMaxM2Config

    [claim] = claims_of({**MINIMAX, **stated})
    assert claim.options["rotary_dim"] == width
    fields = {key: value for key, value in {**MINIMAX, **stated}.items() if key != "model_type"}
    share = MiniMaxM2Config(**fields).rope_parameters.get("partial_rotary_factor", 1.0)  # type: ignore[union-attr]
    assert int(16 * share) == width


def test_nemotron_h_has_attention_without_positions() -> None:
    [claim] = claims_of({"model_type": "nemotron_h", "num_attention_heads": 4})
    assert (claim.kind, claim.where) == ("nope", "layers.*.attention")
