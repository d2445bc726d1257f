"""Configs that hold anything: every one is extended, or refused in one sentence."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import GnomonError
from gnomon.extending.plan import with_edits
from gnomon.extending.rotary.composing import Composed, composed
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.reading import read_rotary
from gnomon.extending.rotary.writing import rotary_plan
from tests.helpers.rotary_folders import tiny

ODD: list[Any] = [None, True, 0, -1, 1, 2, 3.5, 1e308, 2**70, float("nan"), float("inf"), "8", "", [], [1.0] * 8, {}]
NUMBERS = st.sampled_from([*ODD, 4.0, 64, 4096, 1e6])
KEYS = (
    *("factor", "original_max_position_embeddings", "rope_theta", "beta_fast", "beta_slow", "truncate", "alpha"),
    *("attention_factor", "mscale", "mscale_all_dim", "short_factor", "long_factor", "low_freq_factor"),
    *("high_freq_factor", "partial_rotary_factor", "max_position_embeddings"),
)
TOP = (
    *("rope_theta", "max_position_embeddings", "head_dim", "hidden_size", "num_attention_heads", "layer_types"),
    *("sliding_window", "rope_local_base_freq", "original_max_position_embeddings", "rotary_pct"),
    *("partial_rotary_factor", "model_max_length"),
)
RULES = ["default", "linear", "yarn", "longrope", "llama3", "dynamic", "su", "mrope", 7]
FAMILIES = ["llama", "gemma3_text", "phi3", "gpt_neox", "modernbert", "cohere2", "nobodys"]
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "rope_type": st.sampled_from(RULES),
        "type": st.sampled_from(["yarn", "linear", "proportional", None, ["yarn"]]),
        **dict.fromkeys(KEYS, NUMBERS),
    },
)
NESTED = st.fixed_dictionaries({"full_attention": st.one_of(BLOCK, NUMBERS), "sliding_attention": BLOCK})
CONFIG = st.fixed_dictionaries(
    {"model_type": st.sampled_from(FAMILIES)},
    optional={
        **dict.fromkeys(("rope_scaling", "rope_parameters"), st.one_of(BLOCK, NESTED, NUMBERS)),
        **dict.fromkeys(TOP, NUMBERS),
    },
)


def _extended(
    config: dict[str, Any], to: int, method: str, original: int | None
) -> tuple[dict[str, Any], Composed] | str | None:
    """The new config, a refusal, or nothing where nothing turns."""
    try:
        rotary = read_rotary(config)
        if rotary is None:
            return None
        made = composed(rotary, lengths_of(rotary, to, original), method)
        return with_edits(config, rotary_plan(rotary, made).config), made
    except GnomonError as error:
        return str(error)


@settings(max_examples=300, deadline=None)
@given(
    config=CONFIG,
    to=st.sampled_from([1, 96, 8192, 2**31 - 1]),
    method=st.sampled_from(["auto", "linear", "ntk", "yarn", "longrope", "dynamic"]),
    original=st.sampled_from([None, None, 64]),
)
def test_any_config_is_extended_or_refused_in_one_sentence(
    config: dict[str, Any], to: int, method: str, original: int | None
) -> None:
    found = _extended({**tiny("llama", rope_theta=1e4), **config}, to, method, original)
    if isinstance(found, str):
        assert "\n" not in found
        assert len(found) < 500
    elif found is not None:
        new, made = found
        assert json.loads(json.dumps(new)).keys() == new.keys()
        assert made.positions in (to, made.lengths.original)
