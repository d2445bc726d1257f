"""What llama.cpp knows of its architectures: how each one turns, and which rows its converter reorders.

Sources: `llama_model_rope_type` in `src/llama-model.cpp`, `conversion/*.py`.
"""

from typing import Literal

from gnomon.resolving.reading import Layout
from gnomon.resolving.stopping import NoSuchModel

#: pairs of neighbours, pairs of halves, halves with sections in blocks or by turns, no rotation
Mode = Literal["normal", "neox", "mrope", "imrope", "none"]

_BY_MODE: dict[Mode, str] = {
    "normal": (
        "llama llama4 deci baichuan starcoder internlm2 minicpm xverse command-r cohere2 olmo arctic deepseek "
        "deepseek2 chatglm granite granitemoe chameleon bailingmoe smollm3 arcee ernie4_5 mistral3 mistral4 glm-dsa "
        "plm neo-bert glm4"
    ),
    "neox": (
        "falcon gptneox phi2 phi3 phimoe qwen qwen2 qwen2moe qwen3 qwen3moe gemma gemma2 gemma3 gemma4 stablelm olmo2 "
        "olmoe gpt-oss hunyuan-dense hunyuan-moe minicpm3 exaone nemotron dbrx grok starcoder2 openelm plamo orion "
        "seed_oss apertus minimax-m2 lfm2 bert nomic-bert"
    ),
    "mrope": "qwen2vl paddleocr",
    "imrope": "qwen3vl qwen3vlmoe qwen35 qwen35moe",
    "none": "gpt2 gptj mpt bloom refact",
}
MODES: dict[str, Mode] = {name: mode for mode, names in _BY_MODE.items() for name in names.split()}

#: model types of transformers whose converter was read, with the architecture that it writes
ARCHITECTURE_OF = {
    **dict.fromkeys(("llama", "mistral", "mixtral", "internlm3"), "llama"),
    **dict.fromkeys(("llama4", "llama4_text"), "llama4"),
    **dict.fromkeys(("mistral3", "ministral3"), "mistral3"),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3"), "deepseek2"),
    **dict.fromkeys(("gemma3", "gemma3_text"), "gemma3"),
    **dict.fromkeys(("gemma4", "gemma4_text"), "gemma4"),
    **dict.fromkeys(("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"), "qwen2vl"),
    "qwen2": "qwen2",
    "qwen2_moe": "qwen2moe",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
    "gpt_oss": "gpt-oss",
    "phi3": "phi3",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gpt_neox": "gptneox",
    "glm4": "glm4",
    "cohere": "command-r",
    "cohere2": "cohere2",
    "falcon": "falcon",
    "smollm3": "smollm3",
    "granite": "granite",
    "hunyuan_v1_dense": "hunyuan-dense",
    "internlm2": "internlm2",
    "minicpm": "minicpm",
}
#: transformers has no class for these: the converter reads config.json itself
WITHOUT_CLASS = frozenset({"internlm2", "internlm3", "minicpm"})
#: rows of q and k lie as neighbours in the file, though the model's checkpoint has them in halves
PERMUTED = frozenset(
    {"llama", "deci", "baichuan", "internlm2", "minicpm", "xverse", "olmo", "arctic", "deepseek", "granite"}
    | {"granitemoe", "smollm3", "arcee", "mistral3"}
)
PERMUTATION = "rows of q and k are reordered from halves to neighbours by the converter"
#: loading ends where the rotated width is not that of a head
WHOLE_HEADS = frozenset({"llama", "deci", "falcon"})
#: the loader asks for yarn_ext_factor, yarn_attn_factor and the betas; mistral3's for the betas only
READS_YARN_KEYS = frozenset({"grok"})
READS_BETAS = READS_YARN_KEYS | {"mistral3"}
#: what the multiplier in the file is divided by, where the loader asks for it
LOG_MULTIPLIERS = {"deepseek2": 0.1, "mistral3": 1.0}
#: one layer in so many does not turn, whatever list the config has
STILL_EVERY = {"smollm3": 4, "llama4": 4}
#: sliding layers have a base of their own, and are not scaled
OWN_SLIDING_BASE = frozenset({"gemma3", "gemma4"})
#: sliding layers over the other layers' base and scaling, unless the file has a base of theirs
COPIED_SLIDING_BASE = frozenset({"gemma2", "gpt-oss"})
#: sliding layers over the other layers' base, never scaled
PLAIN_SLIDING = frozenset({"olmo2"})
#: `rope.scaling.finetuned` says whether they turn at all
SWITCHED_OFF = frozenset({"granite", "granitemoe"})
#: sections make them turn as multimodal models do, in halves
BY_SECTIONS = frozenset({"glm4"})
#: sliding layers turn, the others do not
SLIDING_ONLY = frozenset({"cohere2"})
#: read in part only, so that nothing is said about them
NOT_TRACED = frozenset(
    {"mistral4", "glm-dsa", "chatglm", "bailingmoe", "neo-bert", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe"}
)


def layout_of(architecture: str) -> Layout:
    """The arithmetic of an architecture that turns.

    Raises NoSuchModel for one without rotation, and for one that was not read.

    >>> layout_of("llama"), layout_of("qwen2")
    ('interleaved', 'half')
    """
    mode = MODES.get(architecture)
    if mode is None or architecture in NOT_TRACED:
        raise NoSuchModel(f"llama.cpp's rules for the architecture {architecture!r} were not traced")
    if mode == "none":
        raise NoSuchModel(f"{architecture} has no rotary embedding in llama.cpp")
    return "interleaved" if mode == "normal" else "half"
