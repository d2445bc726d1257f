"""A twin of a config: fewer layers, heads, experts and words, but the same positions in a head of the same width."""

from collections.abc import Mapping
from typing import Any

from gnomon.adapters.checkpoints.shortened import shortened
from gnomon.adapters.families import claims_of
from gnomon.adapters.families.config_reader import HEADS, WIDTH, ConfigReader
from gnomon.adapters.subject import MissingEvidence

FEW_HEADS, NARROW_HEAD, INNER = 4, 4, 128
QUERY_HEADS = (*HEADS, "decoder_attention_heads")
KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_global_key_value_heads")
WIDTHS = ("embed_dim", *WIDTH)
#: keys that hold the width of the model, or of the text model beside an image tower, a second time
COPIES = (
    *(*WIDTHS, "word_embed_proj_dim", "embedding_size", "true_hidden_size", "intra_bottleneck_size"),
    *("out_hidden_size", "projection_dim", "text_hidden_size", "proj_dim", "cross_attention_hidden_size"),
)
HEAD_WIDTHS = ("head_dim", "attention_head_size", "kv_channels")
#: what has no part in positions, with the most that a twin has of it
MOST = {
    "intermediate_size": INNER,
    "ffn_dim": INNER,
    "encoder_ffn_dim": INNER,
    "decoder_ffn_dim": INNER,
    "ffn_hidden_size": INNER,
    "hidden_dim": INNER,
    "n_inner": INNER,
    "d_ff": INNER,
    "d_inner": INNER,
    "moe_intermediate_size": INNER,
    "shared_expert_intermediate_size": INNER,
    "intermediate_size_mlp": INNER,
    "q_lora_rank": 64,
    "kv_lora_rank": 64,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "moe_num_experts": 4,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "n_group": 2,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "vocab_size_per_layer_input": 1024,
    "hidden_size_per_layer_input": 32,
}


def twin(config: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that is narrower and shorter, with the head width, bases, scaling, windows and kinds of layer it had.

    Where each head has its own slope the heads stay as many and become narrower.

    >>> small = twin({"num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64, "rope_theta": 5e5})
    >>> small["num_hidden_layers"], small["hidden_size"], small["num_attention_heads"], small["rope_theta"]
    (2, 512, 4, 500000.0)
    """
    small = _narrower(shortened(config), keep_heads=_slopes_by_head(config))
    return _joined(small, config)


def differences(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> dict[str, tuple[int, int]]:
    """The numbers that became smaller, by dotted key: what they were, what they are."""
    found: dict[str, tuple[int, int]] = {}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            found |= differences(old, value, f"{prefix}{key}.")
        elif type(value) is int and type(old) is int and value < old and not key.endswith("_token_id"):
            found[prefix + key] = (old, value)
    return found


def _slopes_by_head(config: Mapping[str, Any]) -> bool:
    try:
        return any(claim.kind == "alibi" for claim in claims_of(config))
    except MissingEvidence:
        return False


def _narrower(fields: Mapping[str, Any], *, keep_heads: bool) -> dict[str, Any]:
    """Each part of the config made narrower for itself."""
    small = {k: _narrower(v, keep_heads=keep_heads) if isinstance(v, Mapping) else v for k, v in fields.items()}
    small |= {key: min(value, MOST[key]) for key, value in fields.items() if key in MOST and type(value) is int}
    reader = ConfigReader(fields)
    heads, width = reader.find(*QUERY_HEADS).integer, reader.find(*WIDTHS)
    head = width.integer // heads if "embed_dim" in fields and heads and width.integer else reader.head_dim().integer
    if not heads or not width.integer or not head:
        return small
    few, narrow = (heads, min(head, NARROW_HEAD)) if keep_heads else (min(heads, FEW_HEADS), head)
    small |= {key: min(value, few) for key, value in fields.items() if key in QUERY_HEADS and type(value) is int}
    small |= {key: _key_heads(fields[key], heads, few) for key in KEY_HEADS if type(fields.get(key)) is int}
    small |= {key: narrow for key in HEAD_WIDTHS if keep_heads and fields.get(key)}
    new = min(few * narrow, width.integer)
    return small | {key: new for key in COPIES if fields.get(key) == width.value}


def _key_heads(count: int, heads: int, few: int) -> int:
    """As many as the queries, one, or a number between, as before."""
    return few if count >= heads else min(count, max(few // 2, 1))


def _joined(small: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """The image tower gives vectors as wide as the text model takes, in the twin too."""
    for text in ("text_config", "llm_config", "language_config"):
        before, after = config.get(text), small.get(text)
        if not isinstance(before, Mapping) or not isinstance(after, Mapping):
            continue
        old, new = ConfigReader(before).find(*WIDTH).integer, ConfigReader(after).find(*WIDTH).integer
        for name, part in small.items():
            if name != text and isinstance(part, Mapping) and old and new:
                own = "embed_dim" if "embed_dim" in part else WIDTH[0]
                small[name] = dict(part) | {k: new for k in COPIES if k != own and config[name].get(k) == old}
    return small
