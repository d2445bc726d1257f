"""Random configs in every spelling of a rotary block, as Hypothesis draws them: wise and unwise numbers."""

from typing import Any

from hypothesis import strategies as st

FULL, SLIDING = "full_attention", "sliding_attention"
ORIGINAL, PARTIAL = "original_max_position_embeddings", "partial_rotary_factor"
FAMILIES = (
    *("llama", "mistral", "qwen2", "qwen3", "mixtral", "gpt_oss", "smollm3", "granite", "olmo2", "falcon", "gemma2"),
    *("phi3", "phi", "glm4", "stablelm", "gpt_neox", "cohere2", "llama4_text", "hunyuan_v1_dense", "ministral3"),
    *("deepseek_v3", "deepseek_v2", "minimax_m2", "qwen2_vl_text", "gemma3_text", "gemma4_text"),
    *("dots1", "glm4_moe", "ernie4_5_moe", "flex_olmo", "falcon_h1", "doge", "aria_text", "jais2", "lfm2", "lfm2_moe"),
)
KINDS = ("default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional")
NESTING = ("gemma3_text", "gemma4_text")


@st.composite
def sizes(draw: st.DrawFn, family: str) -> dict[str, Any]:
    """The sizes of a model: two heads, as wide as those of real models."""
    head = draw(st.sampled_from([32, 64, 96, 128]))
    given: dict[str, Any] = {"hidden_size": 2 * head, "num_attention_heads": 2, "num_hidden_layers": 4}
    if not family.startswith("deepseek") and family != "phi3" and draw(st.booleans()):
        given["head_dim"] = draw(st.sampled_from([head, 64]))
    if family.startswith("deepseek"):
        given |= {"qk_rope_head_dim": head, "qk_nope_head_dim": 2 * head, "kv_lora_rank": 8, "q_lora_rank": 8}
    if family in NESTING or family == "cohere2":
        given["layer_types"] = [SLIDING, FULL, SLIDING, FULL]
    if family != "falcon":
        given["num_key_value_heads"] = 2
    return given


@st.composite
def blocks(draw: st.DrawFn, kind: str, pairs: int, *, type_key: str) -> dict[str, Any]:
    """A block of one kind, with what it needs and now and then without, and with keys of other kinds."""
    numbers = st.sampled_from([1.0, 1.25, 2, 4.0, 8.0, 40.0, 0.5])
    held: dict[str, Any] = {} if kind == "default" and draw(st.booleans()) else {type_key: kind}
    if kind != "default" or draw(st.booleans()):
        held["factor"] = draw(numbers)
    if kind == "yarn":
        held |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "beta_fast": st.sampled_from([32, 64.0, 16]),
                    "beta_slow": st.sampled_from([1, 2.0]),
                    "truncate": st.booleans(),
                    "mscale": st.sampled_from([0.0, 0.707, 1.0]),
                    "mscale_all_dim": st.sampled_from([0.0, 0.707, 1.0]),
                    "attention_factor": st.sampled_from([1.0, 1.3]),
                    "attn_factor": st.just(2.0),
                    ORIGINAL: st.sampled_from([256, 1000, 4096]),
                },
            )
        )
    if kind == "llama3":
        held["low_freq_factor"], held["high_freq_factor"] = draw(st.sampled_from([(1.0, 4.0), (2, 8), (1.0, 1.0)]))
        held |= {ORIGINAL: draw(st.sampled_from([512, 8192]))} if draw(st.booleans()) else {}
    if kind == "longrope":
        held |= {"short_factor": [1 + i / 100 for i in range(pairs)], "long_factor": [1.5 + i for i in range(pairs)]}
        held |= {ORIGINAL: draw(st.sampled_from([512, 2048]))} if draw(st.booleans()) else {}
        held |= {"attention_factor": 1.5} if draw(st.booleans()) else {}
        if draw(st.booleans()):
            del held["factor"]
    if kind == "dynamic" and draw(st.booleans()):
        held["alpha"] = 100.0
    if kind == "proportional" or draw(st.integers(0, 4)) == 0:
        held[PARTIAL] = draw(st.sampled_from([0.25, 0.5, 0.75, 1.0]))
    if draw(st.integers(0, 12)) == 0 and len(held) > 1:
        del held[draw(st.sampled_from(sorted(held)))]
    return held


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A config of one family with a block in one of the spellings: version 4, 5 flat, 5 nested, or two at once."""
    family = draw(st.sampled_from(FAMILIES))
    held = {"model_type": family, **draw(sizes(family))}
    head = held.get("head_dim") or held.get("qk_rope_head_dim") or held["hidden_size"] // 2
    kind = draw(st.sampled_from(("default", "longrope") if family == "phi3" else KINDS))
    pairs = head // 2
    base = draw(st.sampled_from([10_000.0, 500_000, 1_000_000.0]))
    beside = {
        "max_position_embeddings": draw(st.sampled_from([2048, 4096, 32768])),
        **draw(
            st.fixed_dictionaries(
                {},
                optional={ORIGINAL: st.sampled_from([1024, 2048]), PARTIAL: st.sampled_from([0.25, 0.5, 1.0])},
            )
        ),
    }
    if beside.get(PARTIAL) and kind == "longrope":
        pairs = int(head * beside[PARTIAL]) // 2
    spelling = draw(st.sampled_from(["4", "4 type", "5", "nested", "both"]))
    block = draw(blocks(kind, pairs, type_key="type" if spelling == "4 type" else "rope_type"))
    return held | beside | _spelled(draw, spelling, block, base, nested=family in NESTING)


def _spelled(draw: st.DrawFn, spelling: str, block: dict[str, Any], base: float, *, nested: bool) -> dict[str, Any]:
    if spelling.startswith("4"):
        return {"rope_theta": base, "rope_scaling": block}
    if spelling == "both":
        return {"rope_scaling": block, "rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": base}}
    inside = block | ({"rope_theta": base} if draw(st.booleans()) or nested else {})
    beside = {"rope_theta": 20_000.0} if draw(st.booleans()) else {}
    if spelling == "nested":
        return beside | {"rope_parameters": {FULL: inside, SLIDING: {"rope_type": "default", "rope_theta": 10_000.0}}}
    return beside | {"rope_parameters": inside}
