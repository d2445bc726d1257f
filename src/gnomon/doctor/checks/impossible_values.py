"""PE105: the config holds a size, a base or a fraction that cannot be."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import shown
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.report.document import Finding, Measured

Test = Callable[[Any], bool]


def _number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _counts(value: Any) -> bool:
    """One count, or one for each stage of an image model (SegFormer)."""
    return all(map(_count, value)) and bool(value) if isinstance(value, list | tuple) else _count(value)


def _count_or_none(value: Any) -> bool:
    """0 stands for a width that follows from the others (GLM)."""
    return _count(value) or (type(value) is int and value == 0)


def _whole(value: Any) -> bool:
    """A length, also where it is written as 1200.0."""
    return _count(int(value)) if isinstance(value, float) and value.is_integer() else _count(value)


def _base(value: Any) -> bool:
    """A base of 1 turns every pair alike, and one below turns later pairs faster."""
    return _number(value) and value > 1


def _window(value: Any) -> bool:
    """A count; some families write one for each layer, a pattern in letters, or -1 for no window."""
    return isinstance(value, list | tuple | str) or (isinstance(value, int) and value is not True)


def _share(value: Any) -> bool:
    return _number(value) and 0 < value <= 1


#: keys by what they must hold; null means "not stated" and is fine
RULES: tuple[tuple[tuple[str, ...], Test, str], ...] = (
    (("hidden_size", "n_embd", "d_model", "num_attention_heads", "n_head"), _counts, "a whole number above 0"),
    (("head_dim",), _count_or_none, "a whole number above 0"),
    (("max_position_embeddings", "n_positions", "original_max_position_embeddings"), _whole, "a whole number above 0"),
    (("rope_theta", "rotary_emb_base", "rope_local_base_freq"), _base, "a finite number above 1"),
    (("partial_rotary_factor", "rotary_pct", "rope_pct"), _share, "a number above 0 and at most 1"),
    (("rope_scaling", "rope_parameters"), lambda value: isinstance(value, Mapping), "an object or null"),
    (("layer_types",), lambda value: isinstance(value, list | tuple), "a list, one entry a layer"),
    (
        ("no_rope_layers",),
        lambda value: isinstance(value, list | tuple),
        "a list of 0 and 1, one a layer, or null; every n-th layer without rotation is no_rope_layer_interval: n",
    ),
    (("alibi", "use_alibi", "rope"), lambda value: isinstance(value, bool | int), "true or false"),
    (("sliding_window", "no_rope_layer_interval", "sliding_window_pattern"), _window, "a whole number, or null"),
)

#: what BERT's code in transformers compares with; for anything else it does as for "absolute", without a word
BERT_KINDS = ("absolute", "relative_key", "relative_key_query")
BERTS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "layoutlm", "splinter", "bert-generation")
EXEMPT = {"partial_rotary_factor": ("efficientloftr",)}  #: it counts heads there


@check("PE105", "impossible-values", severity="error", needs=("config",))
def impossible_values(subject: Subject) -> Iterator[Finding | Measured]:
    """A size, base, fraction or list in the config has a value or a type that it cannot have.

    Why: readers of a config coerce, skip or fall back where they should refuse: a base written as text becomes the
    default of 10,000, a scaling that is no object is no scaling. The model then runs with other positions than the file
    seems to say.

    Fix: write sizes as whole numbers above 0, bases as numbers above 1, fractions between 0 and 1, scaling as an
    object.

    Sources: transformers pull request 37359 (`no_rope_layers` written as a number), transformers issue 38224;
    transformers 5.24 warns about most such values and carries on.
    """
    stated = [
        (prefix + key, block[key], fits, allowed)
        for start, part in config_parts(subject.config)
        for prefix, block in _places(start, part)
        for keys, fits, allowed in RULES
        for key in keys
        if block.get(key) is not None and part.get("model_type") not in EXEMPT.get(key, ())
    ]
    if not stated:
        raise MissingEvidence("the config states no size and no setting of positions")
    wrong = [(key, value, allowed) for key, value, fits, allowed in stated if not fits(value)]
    wrong += _unknown_kinds(subject.config)
    yield Measured("values that cannot be", len(wrong), 0, f"of {len(stated)} that are stated")
    for key, value, allowed in wrong:
        given = shown(value)
        yield Finding(
            "config.json", f"{key} is {given}; it must be {allowed}", f"write {key} as {allowed}", {key: given}
        )


def _unknown_kinds(config: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for prefix, part in config_parts(config):
        kind = part.get("position_embedding_type")
        if part.get("model_type") in BERTS and kind is not None and kind not in BERT_KINDS:
            yield f"{prefix}position_embedding_type", kind, f"one of {', '.join(BERT_KINDS)}"


def _places(prefix: str, part: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A config and the rotary blocks in it, one for each kind of layer where they are nested."""
    yield prefix, part
    for name in ("rope_scaling", "rope_parameters"):
        block = part.get(name)
        if isinstance(block, Mapping):
            yield f"{prefix}{name}.", block
            yield from ((f"{prefix}{name}.{k}.", v) for k, v in block.items() if isinstance(v, Mapping))
