"""What the config classes of transformers 5.24 are, beyond the families' facts: read there, and checked by a test."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

from gnomon.adapters.families import BY_MODEL_TYPE, entry_of
from gnomon.adapters.families.config_reader import ConfigReader, Found, inner
from gnomon.adapters.families.layer_kinds import OneInEvery
from gnomon.adapters.families.published import code_base, code_share
from gnomon.adapters.families.rope_parameters import LayerKind
from gnomon.adapters.families.rotary_rule import Fraction, FullHead, Rotation
from gnomon.adapters.families.rules import Rule, Switch
from gnomon.adapters.subject import MissingEvidence
from gnomon.resolving.readers.transformers5.without_rotation import instead_of_rotation, says_nothing
from gnomon.resolving.stopping import NoSuchModel

#: classes that keep one block for each layer type
NESTING: Final = frozenset({"gemma3_text", "gemma3", "gemma4_text", "modernbert", "modernbert-decoder"})
#: classes that declare `layer_types` though their rotary module reads one block: a nested one ends with KeyError
DECLARING: Final = frozenset(
    {
        *("ministral", "qwen2", "qwen2_moe", "qwen3", "gemma2", "minimax", "gpt_oss", "smollm3", "cohere2"),
        *("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "llama4_text", "dots1", "lfm2", "lfm2_moe"),
    }
)
#: classes without a rotary block: nothing but their base is read
PLAIN: Final = frozenset({"gptj", "codegen", "roformer", "esm", "wav2vec2-conformer"})
#: the original length that a class holds beside the block when the file does not say one; it goes before the block's
ORIGINAL_LENGTHS: Final[Mapping[str, int]] = {"phi3": 4096}
#: the longest length of a class for a file that does not say one
LONGEST: Final[Mapping[int, tuple[str, ...]]] = {
    2048: (
        *("nomic_bert", "llama", "granite", "granitemoe", "olmo", "olmo2", "diffllama", "bitnet", "deepseek_v2"),
        *("gpt_neox", "gpt_neox_japanese", "phi", "gptj", "codegen", "falcon", "hunyuan_v1_dense", "aria_text"),
        *("doge", "dots1"),
    ),
    4096: ("starcoder2", "olmoe", "arcee", "deepseek_v3", "nemotron", "phi3", "stablelm", "helium", "flex_olmo"),
    8192: (
        "modernbert",
        "modernbert-decoder",
        "eurobert",
        "gemma",
        "gemma2",
        "cohere",
        "cohere2",
        "falcon_h1",
        "jais2",
    ),
    16384: ("persimmon",),
    32768: (
        *("qwen2", "qwen2_moe", "qwen3_moe", "qwen3", "smollm3", "qwen2_vl", "qwen2_vl_text"),
        *("qwen2_5_vl", "qwen2_5_vl_text"),
    ),
    128000: ("qwen3_vl_text", "qwen3_vl_moe_text", "lfm2", "lfm2_moe"),
    131072: (
        *("mistral", "ministral", "mixtral", "minimax", "gpt_oss", "gemma3_text", "gemma3", "gemma4_text"),
        *("llama4_text", "glm", "glm4", "ernie4_5", "ernie4_5_moe", "glm4_moe"),
    ),
    196608: ("minimax_m2",),
    262144: ("ministral3",),
    524288: ("seed_oss",),
    1026: ("esm",),
    1536: ("roformer",),
}
_MROPE: Final = {"mrope": "default"}
#: other names that a class takes for a kind of scaling
KIND_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "phi3": {"su": "longrope", "yarn": "longrope"},
    **dict.fromkeys(("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"), _MROPE),
}
#: classes that take no other kinds than these
ONLY_KINDS: Final[Mapping[str, frozenset[str]]] = {"phi3": frozenset({"default", "longrope"})}

#: classes that leave head_dim null where the file has none, and the kinds of scaling that then end with TypeError
HEADLESS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("mixtral", "minimax"), frozenset({"dynamic", "yarn", "longrope"})),
    **dict.fromkeys(
        ("ministral", "hunyuan_v1_dense"),
        frozenset({"default", "linear", "llama3", "proportional", "dynamic", "yarn", "longrope"}),
    ),
}
#: classes that work head_dim out and end with an error where the file has one
DERIVED_HEAD: Final = frozenset({"falcon"})


def _like_llama(name: str) -> Rotation:
    """One block for all layers, in half layout; base and rotated share by the class."""
    share = code_share(name)
    rotated = FullHead() if share == 1 else Fraction(share)
    return Rotation(base=LayerKind(code_base(name), ("rope_theta",)), rotated=rotated)


#: families of transformers that have no entry of their own yet; tests compare each with its real classes
OTHERS: Final[Mapping[str, Rotation]] = {
    "ministral3": Rotation(
        base=LayerKind(
            10_000.0,
            ("rope_theta",),
            absent={
                "rope_type": "yarn",
                "rope_theta": 1_000_000.0,
                "factor": 16.0,
                "original_max_position_embeddings": 16384,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "mscale_all_dim": 1.0,
                "mscale": 1.0,
                "llama_4_scaling_beta": 0.1,
            },
        ),
        head_dim=128,
    ),
    "hunyuan_v1_dense": Rotation(),
    **{
        name: _like_llama(name)
        for name in ("aria_text", "doge", "dots1", "falcon_h1", "flex_olmo", "glm4_moe", "jais2")
    },
    **{name: _like_llama(name) for name in ("lfm2", "lfm2_moe")},
    "ernie4_5_moe": replace(_like_llama("ernie4_5_moe"), layout="interleaved"),
}
#: model types whose code lies on the hub and was read: it turns as Llama's
REMOTE: Final = frozenset({"internlm2", "internlm3", "minicpm"})
#: model types of the hub that run a class of transformers: the one that their `architectures` name
BORROWED: Final[Mapping[str, tuple[str, str]]] = {"kimi_k2": ("DeepseekV3ForCausalLM", "deepseek_v3")}


@final
@dataclass(frozen=True)
class ModelClass:
    """A config class by its model type; `rules` are all that its family says of positions."""

    name: str
    rotation: Rotation
    rules: tuple[Rule, ...] = ()
    kinds: OneInEvery | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def base_keys(self) -> tuple[str, ...]:
        """The keys of a base outside a block; other programs' names for it count in classes that know no other."""
        keys = self.rotation.base.base_keys
        return ("rope_theta",) if "rope_theta" in keys else keys

    def longest(self, config: ConfigReader) -> Found:
        """max_position_embeddings (n_positions in GPT-J), or the class's own number."""
        key = "n_positions" if self.name in ("gptj", "codegen") else "max_position_embeddings"
        return config.find(key, default=next((size for size, names in LONGEST.items() if self.name in names), None))


def class_of(config: Mapping[str, Any]) -> tuple[ModelClass, ConfigReader]:
    """The class for a config, and the part of the config that describes the text model.

    Raises NoSuchModel for models that do not turn queries and keys, and for those that nobody has compared.
    """
    if borrowed := _borrowed(config):
        return borrowed
    outer = ConfigReader(config)
    reader = inner(outer)
    names = [name for r in (reader, outer) if isinstance(name := r.config.get("model_type"), str)]
    try:
        entry, reader = entry_of(config)
    except MissingEvidence:
        if not names and says_nothing(config):
            raise NoSuchModel("the config has no model_type, and no key that bears on positions") from None
        return _unlisted(names[0] if names else ""), reader
    rules = tuple(_active(entry.rules, reader))
    rotation = next((rule for rule in rules if isinstance(rule, Rotation)), None)
    name = next(name for name in names if name in entry.family.model_types)
    if rotation is None:
        raise NoSuchModel(instead_of_rotation(name, entry, reader))
    return ModelClass(name, rotation, rules, entry.kinds), reader


def is_foreign(config: Mapping[str, Any]) -> bool:
    """Whether transformers has no class for the model type, so that what is said of it is from reading alone."""
    name = config.get("model_type")
    return not isinstance(name, str) or not name or name in REMOTE or name in BORROWED


def rotation_of(name: str) -> Rotation:
    """How the family of a model type turns, whatever its config says."""
    entry = BY_MODEL_TYPE.get(name)
    found = next((rule for rule in entry.rules if isinstance(rule, Rotation)), None) if entry else None
    return found or OTHERS.get(name) or _like_llama(name)


def alpha_rules(model: str, block: Mapping[str, Any]) -> bool:
    """Whether HunYuan's class takes "dynamic" as a base that `alpha` stretches at every length."""
    return model == "hunyuan_v1_dense" and block.get("rope_type") == "dynamic" and bool(block.get("alpha"))


def _active(rules: tuple[Rule, ...], reader: ConfigReader) -> Iterator[Rule]:
    for rule in rules:
        yield from _active(rule.chosen(reader), reader) if isinstance(rule, Switch) else (rule,)


def _unlisted(name: str) -> ModelClass:
    if name in OTHERS:
        return ModelClass(name, OTHERS[name], (OTHERS[name],))
    if name and name not in REMOTE:
        raise NoSuchModel(f"the class of {name} was not compared with gnomon's reader")
    rotation = _like_llama(name)
    return ModelClass(name, rotation, (rotation,), notes=(f"model_type {name or 'missing'!r} is read as Llama",))


def _borrowed(config: Mapping[str, Any]) -> tuple[ModelClass, ConfigReader] | None:
    """The class of transformers that a model type of the hub runs; None for all others."""
    name = config.get("model_type")
    architecture, model_type = BORROWED.get(name if isinstance(name, str) else "", ("", ""))
    named = config.get("architectures")
    if not architecture or not isinstance(named, list) or architecture not in named:
        return None
    model, reader = class_of({**config, "model_type": model_type})
    return replace(model, notes=(f"model_type {name!r} is read as {model_type}, by its architectures",)), reader
