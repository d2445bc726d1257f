"""PE116: rotary settings at the top of a config whose language model reads them from a config inside it."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.families.config_reader import ConfigReader, inner
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import shown
from gnomon.doctor.check import check
from gnomon.doctor.evidence.rope_blocks import NAMES
from gnomon.report.document import Finding, Measured

KEYS = ("rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor", "max_position_embeddings")
OWN = ("musicflamingo",)  #: the whole has a rotation of its own


@check("PE116", "misplaced-keys", severity="warning", needs=("config",))
def misplaced_keys(subject: Subject) -> Iterator[Finding | Measured]:
    """A model of several towers is given rotary settings at the top, where its language model does not look.

    Why: the language model is built from `text_config`. A scaling or a base that is written beside it is kept, saved
    again and shown by every viewer of the file, and changes nothing.

    Fix: move the key into `text_config` (or `llm_config`, `language_config`).

    Sources: TensorRT-LLM issues 1595 and 4728 (a scaling set in the saved config has no effect; a wrong path for a
    wrapper of a multimodal model).
    """
    outer = ConfigReader(subject.config)
    reader = inner(outer)
    if reader is outer:
        raise MissingEvidence("the config has no language model inside it")
    path = reader.named("")
    lone = [key for key in KEYS if _says_otherwise(key, outer.config, reader.config)]
    yield Measured("settings that the language model does not read", len(lone), 0, f"it reads {path.rstrip('.')}")
    for key in lone if outer.config.get("model_type") not in OWN else ():
        there = reader.config.get(key)
        said = f"{path}{key} is {shown(there)}" if there is not None else f"{path.rstrip('.')} has none"
        yield Finding(
            key,
            f"{key} is {shown(outer.config[key])} at the top, and {said}: the language model reads the latter",
            f"write {path}{key}: {shown(outer.config[key])}, or drop {key} at the top",
            {key: shown(outer.config[key])},
        )


def _says_otherwise(key: str, outer: Mapping[str, Any], text: Mapping[str, Any]) -> bool:
    """Whether the top states a value that the language model's config does not have."""
    value = outer.get(key)
    if value is None or value in ({}, text.get(key)):
        return False
    if key == "rope_theta":
        blocks = [text[name] for name in NAMES if isinstance(text.get(name), Mapping)]
        return value not in [block.get(key) for block in blocks]
    if key in NAMES:
        return all(value != text.get(name) for name in NAMES)
    return True
