"""Decoder families. Facts from the code of transformers 5.24.0; a family is one entry."""

from gnomon.adapters.families.config_reader import HEADS, WIDTH, ConfigReader, Found
from gnomon.adapters.families.entry import DECODER_TABLE, FIXED, WPE, based, decoder
from gnomon.adapters.families.layer_kinds import OneInEvery
from gnomon.adapters.families.rope_parameters import LayerKind
from gnomon.adapters.families.rotary_rule import CountOrFraction, Dimensions, Fraction, Rotation, Sections
from gnomon.adapters.families.rules import (
    KindsWithoutRotation,
    LayersWithoutRotation,
    LearnedTable,
    LinearBias,
    NoPositions,
    Stated,
    Switch,
    extra_rows,
)


def head_of_xlnet(config: ConfigReader) -> Found:
    given = config.find("d_head")
    return given if given.integer else config.head_dim()


def clamp_of_xlnet(config: ConfigReader) -> Found:
    """0 and -1 say that no distance is clamped."""
    found = config.find("clamp_len")
    return found if found.integer else Found(None, found.key)


GPTJ_TABLE = r"(^|\.)(attn|rotary_emb)\.embed_positions$"  # transformers 4, 5
GPT_OSS = LayerKind(
    150_000.0,
    ("rope_theta",),
    absent={
        "rope_type": "yarn",
        "factor": 32.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "truncate": False,
        "original_max_position_embeddings": 4096,
    },
)
LOCAL_AND_GLOBAL = Rotation(
    head_dim=256,
    kinds={
        "full_attention": based(1_000_000.0),
        "sliding_attention": LayerKind(10000.0, ("rope_local_base_freq",), scaled=False),
    },
)
GEMMA4 = Rotation(
    head_dim=256,
    kinds={
        "full_attention": LayerKind(
            1_000_000.0,
            ("rope_theta",),
            absent={"rope_type": "proportional", "partial_rotary_factor": 0.25},
            head_dim=512,
        ),
        "sliding_attention": based(10000.0),
    },
)
#: the rotated part of a head in multi-head latent attention
LATENT = {layout: Rotation(layout, head_dim=64, head_keys=("qk_rope_head_dim",)) for layout in ("half", "interleaved")}


ENTRIES = (
    decoder("gpt2", "gpt_bigcode", "imagegpt", "gpt_neo", rules=(LearnedTable(WPE),)),
    decoder("openai-gpt", rules=(LearnedTable(r"(^|\.)positions_embed\.weight$"),)),
    decoder("opt", rules=(LearnedTable(DECODER_TABLE, rows=extra_rows(2), width=("hidden_size",)),)),
    decoder("biogpt", rules=(LearnedTable(r"(^|\.)embed_positions\.weight$", rows=extra_rows(2)),)),
    decoder(
        *("llama", "mistral", "ministral", "qwen2", "qwen2_moe", "qwen3_moe", "starcoder2", "granite", "granitemoe"),
        *("olmo", "olmo2", "olmoe", "diffllama", "arcee"),
        rules=(Rotation(),),
    ),
    decoder("qwen3", "seed_oss", rules=(Rotation(head_dim=128),)),
    decoder("gemma", "gemma2", rules=(Rotation(head_dim=256),)),
    decoder("bitnet", rules=(Rotation(base=based(500_000.0)),)),
    decoder("mixtral", "minimax", rules=(Rotation(base=based(1_000_000.0)),)),
    decoder("minimax_m2", rules=(Rotation(base=based(5_000_000.0), rotated=CountOrFraction(), head_dim=128),)),
    decoder("nemotron_h", rules=(NoPositions(),)),
    decoder("gpt_oss", rules=(Rotation(base=GPT_OSS, head_dim=64),)),
    decoder(
        "smollm3",
        rules=(
            Rotation(base=based(2_000_000.0)),
            LayersWithoutRotation("no_rope_layers", "no_rope_layer_interval", 4),
        ),
    ),
    decoder(
        *("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"),
        rules=(Rotation(base=based(1_000_000.0), sections=Sections((16, 24, 24))),),
    ),
    decoder(
        "qwen3_vl_text",
        rules=(Rotation(base=based(500_000.0), head_dim=128, sections=Sections((24, 20, 20), "interleaved")),),
    ),
    decoder(
        "qwen3_vl_moe_text",
        rules=(Rotation(base=based(500_000.0), sections=Sections((24, 20, 20), "interleaved")),),
    ),
    decoder("gemma3_text", "gemma3", rules=(LOCAL_AND_GLOBAL,), kinds=OneInEvery(6, ("sliding_window_pattern",))),
    decoder("gemma4_text", rules=(GEMMA4,), kinds=OneInEvery(6, last_is_full=True)),
    decoder(
        "llama4_text",
        rules=(
            Rotation("interleaved", base=based(500_000.0), head_dim=128),
            LayersWithoutRotation("no_rope_layers", "no_rope_layer_interval", 4),
        ),
    ),
    decoder("deepseek_v2", rules=(LATENT["interleaved"],)),
    decoder(
        "deepseek_v3",
        rules=(Switch("rope_interleave", True, {True: (LATENT["interleaved"],), False: (LATENT["half"],)}),),
    ),
    decoder("gpt_neox", rules=(Rotation(base=based(10000.0, "rotary_emb_base"), rotated=Fraction(0.25)),)),
    decoder("gpt_neox_japanese", rules=(Rotation(base=based(10000.0, "rotary_emb_base"), rotated=Fraction(1.0)),)),
    decoder("phi", "persimmon", "nemotron", rules=(Rotation(rotated=Fraction(0.5)),)),
    decoder("phi3", rules=(Rotation(rotated=Fraction(1.0)),)),
    decoder("stablelm", rules=(Rotation(rotated=Fraction(0.25)),)),
    decoder("gptj", "codegen", rules=(Rotation("interleaved", FIXED, rotated=Dimensions(64), tables=(GPTJ_TABLE,)),)),
    decoder("cohere", rules=(Rotation("interleaved", base=based(500_000.0)),)),
    decoder("helium", rules=(Rotation("interleaved", base=based(100_000.0), head_dim=128),)),
    decoder(
        "cohere2",
        rules=(
            Rotation("interleaved", kinds={"sliding_attention": based(10000.0)}),
            KindsWithoutRotation("full_attention"),
        ),
        kinds=OneInEvery(4, ("sliding_window_pattern",)),
    ),
    decoder("glm", "glm4", rules=(Rotation("interleaved", rotated=Fraction(0.5), head_dim=128),)),
    decoder("ernie4_5", rules=(Rotation("interleaved", base=based(500_000.0), head_dim=128),)),
    decoder("bloom", rules=(LinearBias(),)),
    decoder(
        "mpt",
        rules=(
            Switch(
                "attn_config.alibi",
                True,
                {
                    True: (LinearBias(bias_max=("attn_config.alibi_bias_max",)),),
                    False: (LearnedTable(WPE),),
                },
            ),
        ),
    ),
    decoder("falcon", rules=(Switch("alibi", False, {True: (LinearBias(before_scale=True),), False: (Rotation(),)}),)),
    decoder(
        "xlnet",
        rules=(
            Stated(
                "transformer_xl",
                options={
                    "num_heads": HEADS,
                    "dim": WIDTH,
                    "direction": ("attn_type",),
                    "two_way_data": ("bi_data",),
                },
                derived={"head_dim": head_of_xlnet, "clamp_length": clamp_of_xlnet},
                tables=(r"(^|\.)rel_attn\.r_[rw]_bias$",),
            ),
        ),
    ),
)
