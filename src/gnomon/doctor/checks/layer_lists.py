"""PE111: the lists that say which layer is which do not fit the number of layers, or each other."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.report.document import Finding, Measured, Severity

LISTS = ("layer_types", "no_rope_layers", "layer_rope_theta")
PATTERNS = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
KINDS = ("full_attention", "sliding_attention", "chunked_attention", "linear_attention", "hybrid", "conv", "mamba")
ALMOST = 0.92  # a letter or two of a kind's name: sliding_atention
SAVED_INTERVAL = 4  # the default of SmolLM3 and Llama 4, which saving writes beside any list
Seen = tuple[str, str, Severity, Mapping[str, Any]]  #: message, fix, severity, numbers


@check("PE111", "layer-lists", severity="error", needs=("config",))
def layer_lists(subject: Subject) -> Iterator[Finding | Measured]:
    """A list with an entry for each layer is too short or too long, or says other than the interval beside it.

    Why: which layers slide and which have no rotation is written as a list, as an interval, or both, and each program
    reads the one it knows. A list of `no_rope_layers` holds 1 where a layer *has* rotation; written the other way
    round it takes the rotation from most layers instead of one in four.

    Fix: give each list one entry for each of `num_hidden_layers`, and make the interval say the same.

    Sources: transformers issue 43756 and smollm issue 130 (the list read the other way round), transformers pull
    request 37359; the code of transformers 5.24 for what the entries mean.
    """
    parts = [(prefix, part) for prefix, part in config_parts(subject.config) if any(_list(part, key) for key in LISTS)]
    if not parts:
        raise MissingEvidence("the config lists nothing layer by layer")
    seen = [(prefix, item) for prefix, part in parts for rule in RULES for item in rule(part)]
    yield Measured("lists of layers that do not fit", len(seen), 0, "the number of layers, and each other")
    for prefix, (message, fix, severity, numbers) in seen:
        yield Finding(prefix.rstrip(".") or "config.json", message, fix, numbers, severity=severity)


def _list(part: Mapping[str, Any], key: str) -> list[Any]:
    value = part.get(key)
    return list(value) if isinstance(value, list | tuple) else []


def _lengths(part: Mapping[str, Any]) -> Iterator[Seen]:
    layers = part.get("num_hidden_layers")
    for key in LISTS:
        entries = _list(part, key)
        if type(layers) is int and entries and len(entries) != layers:
            message = f"{key} has {len(entries)} entries for {layers} layers"
            yield message, f"give {key} {layers} entries", "error", {"entries": len(entries), "layers": layers}


def _kinds(part: Mapping[str, Any]) -> Iterator[Seen]:
    """Kinds that are no text, or are nearly one of those that are usual."""
    for kind in dict.fromkeys(map(str, _list(part, "layer_types"))):
        usual = kind.lower().replace("-", "_").replace("global", "full").replace("local", "sliding")
        close = next((k for k in KINDS if usual in (k, k.removesuffix("_attention"))), None)
        close = close or next(iter(difflib.get_close_matches(usual, KINDS[:4], 1, ALMOST)), None)
        if kind not in KINDS and close:
            message = f"layer_types holds {kind!r}, which readers do not know; they know {close!r}"
            yield message, f"write {close}", "error", {"kind": kind}


def _pattern(part: Mapping[str, Any]) -> Iterator[Seen]:
    """One full layer in every n, against the list."""
    kinds = _list(part, "layer_types")
    key = next((k for k in PATTERNS if type(part.get(k)) is int and part[k] > 0), None)
    if key is None or set(kinds) != {"full_attention", "sliding_attention"}:
        return
    full = [number for number, kind in enumerate(kinds) if kind == "full_attention"]
    step = part[key]
    last = [number for number in range(len(kinds)) if (number + 1) % step == 0]
    first = [number for number in range(len(kinds)) if number % step == 0]
    if full not in (last, first, [*last, len(kinds) - 1]):
        message = f"layer_types makes layers {_short(full)} full, {key} {step} layers {_short(last)}"
        yield message, "make both say which layers the weights have as full ones", "warning", {"full": len(full)}


def _rotation(part: Mapping[str, Any]) -> Iterator[Seen]:
    """Which layers rotate: the list, the interval, and what is likely."""
    flags, step = _list(part, "no_rope_layers"), part.get("no_rope_layer_interval")
    if not flags:
        return
    if bad := [flag for flag in flags if flag not in (0, 1)]:
        yield f"no_rope_layers holds {bad[0]!r}; entries are 0 and 1", "write 1 for layers that rotate", "error", {}
        return
    bare = [number for number, flag in enumerate(flags) if not flag]
    numbers = {"without rotation": len(bare), "layers": len(flags)}
    by_step = [n for n in range(len(flags)) if (n + 1) % step == 0] if type(step) is int and step > 0 else None
    inverted = [1 - int(flag) for flag in flags]
    if 2 * len(bare) > len(flags):
        yield (
            f"no_rope_layers leaves {len(bare)} of {len(flags)} layers without rotation: 1 means that a layer rotates",
            f"if only the layers marked 1 are to have no rotation, write {_short(inverted)}",
            "warning",
            numbers,
        )
    elif by_step is not None and by_step != bare and step != SAVED_INTERVAL:
        yield (
            f"no_rope_layers takes the rotation from layers {_short(bare)}, the interval {step} from {_short(by_step)}",
            "make no_rope_layer_interval and no_rope_layers say the same",
            "warning",
            numbers,
        )


def _short(values: list[int]) -> str:
    return str(values[:8])[:-1] + (", ...]" if len(values) > 8 else "]")


RULES = (_lengths, _kinds, _pattern, _rotation)
