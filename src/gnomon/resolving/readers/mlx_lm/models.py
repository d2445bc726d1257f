"""The rotary fields of mlx-lm's `ModelArgs`, model file by model file: names, defaults, and which scaling is applied.

Source: `mlx_lm/models/*.py` of mlx-lm, mostly at d78bf58e (August 2026). A field without a default is a TypeError when
the file lacks it. `mistral` loads llama.py.
"""

from dataclasses import dataclass, replace
from typing import Literal, final

from gnomon.resolving.reading import Layout

#: where the width of a head comes from: `head_dim` or else the division; the division; `head_dim` alone; DeepSeek's two
Head = Literal["either", "division", "head_dim", "latent"]
#: `initialize_rope`, nothing at all (`nn.RoPE`), or code of the model's own
Scaling = Literal["shared", "bare", "phi3", "minicpm", "internlm", "hunyuan"]
#: layers that are told apart
Kinds = Literal["all", "gemma3", "gemma4", "sliding only", "listed", "every fourth"]


@final
@dataclass(frozen=True)
class Model:
    """One model file. `base` None: the field has no default. `share`: the key of the rotated part and its default."""

    base: float | None = 1e4
    base_key: str = "rope_theta"
    head: Head = "either"
    width: int | None = None  #: default of head_dim
    scaling: Scaling = "shared"
    block: str = "rope_scaling"
    layout: Layout = "half"
    share: tuple[str, float | None] | None = None
    part: str = ""
    kinds: Kinds = "all"
    needed: tuple[str, ...] = ()
    longest: int | None = None
    scalar: float | None = None  #: default of query_pre_attn_scalar, where the softmax scale is made of it


LLAMA = Model()
QWEN2 = Model(base=1e6, head="division", longest=32768)
QWEN3 = Model(base=None, head="head_dim", needed=("max_position_embeddings",))
DEEPSEEK = Model(head="latent", layout="interleaved", longest=2048)
GEMMA3 = Model(base=1e6, head="head_dim", width=256, kinds="gemma3", longest=32768, scalar=256.0)
GEMMA4 = Model(head="head_dim", width=256, kinds="gemma4", block="rope_parameters", longest=131072)
INTERNLM = Model(head="division", scaling="internlm", longest=32768)

MODELS: dict[str, Model] = {
    "llama": LLAMA,
    "mistral": LLAMA,
    "smollm3": replace(LLAMA, kinds="listed"),
    "qwen2": QWEN2,
    "qwen2_vl": QWEN2,
    "qwen2_moe": replace(QWEN2, scaling="bare"),
    "qwen3": QWEN3,
    "qwen3_moe": replace(QWEN3, scaling="bare"),
    "mixtral": Model(base=1e6, head="division", scaling="bare"),
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": DEEPSEEK,
    "gpt_oss": Model(base=1.5e5, head="head_dim", width=64),
    "phi3": Model(head="division", scaling="phi3", share=("partial_rotary_factor", 1.0), longest=131072),
    "gemma": Model(head="head_dim", scaling="bare"),
    "gemma2": Model(head="head_dim", scaling="bare", scalar=144.0),
    "gemma3": replace(GEMMA3, part="text_config"),
    "gemma3_text": GEMMA3,
    "gemma4": replace(GEMMA4, part="text_config"),
    "gemma4_text": GEMMA4,
    "gpt_neox": Model(
        base=None, base_key="rotary_emb_base", head="division", scaling="bare", share=("rotary_pct", None)
    ),
    "glm": Model(scaling="bare", layout="interleaved", share=("partial_rotary_factor", 1.0)),
    "glm4": Model(
        base=None, head="head_dim", scaling="bare", layout="interleaved", share=("partial_rotary_factor", None)
    ),
    "cohere": Model(base=8e6, head="division", scaling="bare", layout="interleaved"),
    "cohere2": Model(base=5e4, head="head_dim", width=128, scaling="bare", layout="interleaved", kinds="sliding only"),
    "llama4": Model(
        base=None,
        head="head_dim",
        layout="interleaved",
        part="text_config",
        kinds="every fourth",
        needed=("max_position_embeddings", "rope_scaling"),
    ),
    "hunyuan_v1_dense": Model(scaling="hunyuan", longest=32768),
    "internlm2": INTERNLM,
    "internlm3": INTERNLM,
    "minicpm": Model(base=1e6, head="division", scaling="minicpm"),
    "ministral3": Model(base=None, block="rope_parameters"),
    "olmo": Model(head="division", scaling="bare"),
}
#: rope_parameters are read there, how was not traced
NOT_TRACED = frozenset(
    {"exaone_moe", "glm_moe_dsa", "laguna", "lfm2", "lfm2_moe", "mellum", "qwen3_5", "qwen3_5_moe", "mistral3"}
)
#: model files that the release does not have
ABSENT = frozenset({"gptj", "falcon", "gpt_j", "bloom", "mpt", "opt"})
