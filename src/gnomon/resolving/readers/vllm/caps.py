"""How long vLLM lets a server be: `_get_and_verify_max_len`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gnomon.resolving.readers.serving.caps import stated_lengths, whole_cap
from gnomon.resolving.readers.serving.layers import rule_of
from gnomon.resolving.readers.transformers5 import Block, Standard
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.numbers import EXACT, finite, required
from gnomon.resolving.rules.scaling import ORIGINAL

#: the smallest of them counts
LENGTHS: Final = (
    *("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_target_positions"),
    *("max_sequence_length", "max_seq_length", "seq_len"),
)
UNSTATED: Final = 2048
ALLOWED: Final = "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1"
NOT_MULTIPLIED: Final = frozenset({"su", "longrope", "llama3"})


def caps_of(standard: Standard, file: Keys, text: Keys, tokenizer: Mapping[str, Any]) -> tuple[int, int]:
    """The length by the file where the user gives none, and the longest one that the user may give.

    The smallest of many keys, `model_max_length` in their place, no more than the tokenizer's; then YaRN starts over
    from its original length, and every kind but LongRoPE and Llama 3's multiplies by `factor`. Gemma 3 is exempt.
    LongRoPE stops at the original length that stands beside the block unless the user asks for more.
    """
    stated = _stated(standard, text)
    if stated is None:
        file.note("cap", UNSTATED)
        return UNSTATED, EXACT
    longest, key = stated
    limit = tokenizer.get("model_max_length")
    if limit is not None and finite(limit) and limit < longest:
        longest, key = float(limit), DEFAULT
    if "gemma3" not in standard.model_type:
        longest = _multiplied(standard, longest)
    most = whole_cap(Keys({}), longest, key)
    if any(rule_of(block) in ("longrope", "su") for block in standard.blocks):
        original = text.number("original length", ORIGINAL)
        longest = longest if original is None else min(longest, original)
    return whole_cap(file, longest, key), most


def remarks(standard: Standard, cap: int, most: int, served: int | None) -> Iterator[str]:
    """What the user should know of the lengths."""
    if served is not None and served > most:
        yield f"a server for {served} tokens needs {ALLOWED}"
    rows = standard.longest.value
    stretched = any(rule_of(block) in ("dynamic", "ntk") for block in standard.blocks)
    if stretched and isinstance(rows, int) and cap > rows:
        yield f"the table of angles has {rows} rows, and the cap is {cap}"


def _stated(standard: Standard, text: Keys) -> tuple[float, str] | None:
    """The smallest of many attributes of the config object; what a class adds is one of them."""
    replaced = text.number("length", "model_max_length")
    given = stated_lengths(standard, text, LENGTHS)
    if replaced:
        return replaced, f"{standard.part}model_max_length"
    return min(given) if given else None


def _multiplied(standard: Standard, longest: float) -> float:
    factor = 1.0
    for block in standard.blocks:
        if rule_of(block) in NOT_MULTIPLIED or not block.turns:
            continue
        factor = _number(block, "factor", factor)
        if rule_of(block) == "yarn":
            longest = _number(block, ORIGINAL, longest)
    return longest * factor


def _number(block: Block, name: str, default: float) -> float:
    value = block.values.get(name, default)
    if value is None:
        return default
    return required(value, block.origins.get(name, name), low=-EXACT, high=EXACT)
