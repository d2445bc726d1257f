"""Metadata of GGUF files in tests, written with short names, and readings of them."""

from collections.abc import Mapping
from typing import Any

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Reading
from gnomon.resolving.stack import Stack

Lists = Mapping[str, tuple[float, ...]]
NO_LISTS: Lists = {}


def metadata(architecture: str, **more: Any) -> dict[str, Any]:
    """A head of 128 and a context of 8192 with base 1e6; `rope__freq_base` is written `<architecture>.rope.freq_base`.

    A name whose value is None is left out.
    """
    held = {"context_length": 8192, "attention__key_length": 128, "rope__freq_base": 1e6, **more}
    named = {f"{architecture}.{name.replace('__', '.')}": value for name, value in held.items() if value is not None}
    return {"general.architecture": architecture, **named}


def yarn(architecture: str, factor: float = 4.0, original: int | None = 32768, **more: Any) -> dict[str, Any]:
    """With YaRN over 4 times 32768 tokens."""
    return metadata(
        architecture,
        **{
            "rope__scaling__type": "yarn",
            "rope__scaling__factor": factor,
            "rope__scaling__original_context_length": original,
            **more,
        },
    )


def read(stack: Stack, held: Mapping[str, Any], version: str = "", *, lists: Lists = NO_LISTS) -> Reading:
    given = Given("made.gguf", metadata=held, factors=lists)
    return stack.reading(given, stack.version(version) if version else None)
