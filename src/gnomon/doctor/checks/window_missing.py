"""PE113: layers are to see a window, and the config gives no window."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.rope_blocks import positive
from gnomon.report.document import Finding, Measured

SLIDING = ("sliding_attention", "hybrid_sliding")
WINDOWS = ("sliding_window", "sliding_window_size", "local_attention", "window_size", "attention_window")
SWITCH = "use_sliding_window"
SWITCHED = ("qwen2", "qwen2_moe", "qwen3", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text")
CHUNKS = ("attention_chunk_size", "chunk_size", "attention_chunk")


@check("PE113", "window-missing", severity="error", needs=("config",))
def window_missing(subject: Subject) -> Iterator[Finding | Measured]:
    """Some layers are windowed by the list of layers, and the window is null, 0 or absent, or switched off.

    Why: a reader that finds no window lets windowed layers see everything, with the small base that was made for
    a window, or fails in the mask. Either way the layers get distances that they were never trained with. Qwen's code
    reads a window only where `use_sliding_window` is true, and then from layer `max_window_layers` on (28 by default).

    Fix: write the window that the weights were trained with (Gemma 3: 1024 or 512, gpt-oss: 128), or make the layers
    full_attention.

    Sources: the attention masks of transformers 5.24 (`create_sliding_window_causal_mask`);
    Blackwellboy/model-serving-minefield issue 107 (a Qwen 3 draft model with a window that no layer has).
    """
    parts = [(prefix, part) for prefix, part in config_parts(subject.config) if _windowed(part) or _switched(part)]
    if not parts:
        raise MissingEvidence("the config lists no windowed layers")
    for prefix, part in parts:
        yield from _listed(prefix, part) if _windowed(part) else _derived(prefix, part)


def _listed(prefix: str, part: Mapping[str, Any]) -> Iterator[Finding | Measured]:
    """Layers that the config lists as windowed."""
    kind, count = _windowed(part)[0], len(_windowed(part))
    keys = WINDOWS if kind in SLIDING else CHUNKS
    sizes = {key: part[key] for key in keys if part.get(key) is not None}
    given = [value for value in sizes.values() if isinstance(value, list | tuple) or positive(value)]
    yield Measured(f"windows for {count} {kind} layers", len(given), 1, "at least one size is needed")
    where = f"{prefix}{keys[0]}"
    if not given:
        stated = ", ".join(f"{key} is {value!r}" for key, value in sizes.items()) or f"{keys[0]} is not given"
        message = f"{count} layers are {kind} and {stated}"
        yield Finding(where, message, f"write {keys[0]}: the window of the training", {"layers": count})
    elif kind in SLIDING and _is_off(part):
        message = f"{count} layers are {kind} and use_sliding_window is {part.get(SWITCH, 'not given, which is false')}"
        fix = "set use_sliding_window to true, or list the layers as full_attention"
        yield Finding(where, message.replace("False", "false"), fix, severity="warning")


def _derived(prefix: str, part: Mapping[str, Any]) -> Iterator[Finding | Measured]:
    """Qwen's windows without a list: a switch turns them on, for the layers from `max_window_layers` on."""
    window, first, layers = part["sliding_window"], part.get("max_window_layers", 28), part.get("num_hidden_layers")
    yield Measured(f"{prefix}{SWITCH}", str(part.get(SWITCH, "not given")), "stated", "absent is read as false")
    if SWITCH not in part:
        yield Finding(
            f"{prefix}sliding_window",
            f"sliding_window is {window!r} and {SWITCH} is not given, which is false: the window is read as null",
            f"write {SWITCH}: true, and layer_types or max_window_layers: the first layer that slides",
            {"sliding_window": window},
            severity="warning",
        )
    elif part[SWITCH] is True and type(layers) is int and type(first) is int and first >= layers:
        yield Finding(
            f"{prefix}max_window_layers",
            f"layers slide from number {first} on ({'stated' if 'max_window_layers' in part else 'the default'}), and "
            f"there are {layers}: none does",
            "write max_window_layers: the first layer that slides, or layer_types",
            {"first": first, "layers": layers},
            severity="warning",
        )


def _is_off(part: Mapping[str, Any]) -> bool:
    return part.get(SWITCH, part.get("model_type") not in SWITCHED) is False


def _switched(part: Mapping[str, Any]) -> bool:
    """Whether the family's windows follow from a switch, and the config states one."""
    listed = isinstance(part.get("layer_types"), list | tuple)
    return not listed and part.get("model_type") in SWITCHED and positive(part.get("sliding_window")) is not None


def _windowed(part: Mapping[str, Any]) -> list[str]:
    kinds = part.get("layer_types")
    listed = kinds if isinstance(kinds, list | tuple) else []
    return [str(kind) for kind in listed if kind in (*SLIDING, "chunked_attention")]
