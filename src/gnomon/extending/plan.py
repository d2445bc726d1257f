"""What an extension will change, before anything is written: tensors, and keys of the small files beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

from gnomon.adapters.checkpoints.rewriting import Changed
from gnomon.errors import GnomonError


@final
@dataclass(frozen=True)
class Plan:
    """`tensors` by name. `config`: keys of config.json by dotted path ("text_config.rope_theta"), None removes a key.

    `tokenizer` and `generation` are keys of tokenizer_config.json and generation_config.json, set only where the file
    is there. `files` are others by name, whole (sentence_bert_config.json, optimizer.pt). `words`
    say in whole sentences what is done and why, `drawbacks` what the user should know of it.
    """

    tensors: Mapping[str, Changed] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Mapping[str, Any] = field(default_factory=dict)
    generation: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    drawbacks: tuple[str, ...] = ()

    def joined(self, other: "Plan") -> Self:
        """Both together (a model with a learned table and a bias table); raises GnomonError where they disagree."""
        for name in ("tensors", "config", "tokenizer", "generation", "files"):
            ours, theirs = getattr(self, name), getattr(other, name)
            for key in ours.keys() & theirs.keys():
                if name == "tensors" or ours[key] != theirs[key]:
                    raise GnomonError(f"Two parts of the extension want to change {key!r}; extend them one by one.")
        return replace(
            self,
            tensors={**self.tensors, **other.tensors},
            config={**self.config, **other.config},
            tokenizer={**self.tokenizer, **other.tokenizer},
            generation={**self.generation, **other.generation},
            files={**self.files, **other.files},
            words=tuple(dict.fromkeys((*self.words, *other.words))),
            drawbacks=tuple(dict.fromkeys((*self.drawbacks, *other.drawbacks))),
        )


def with_edits(config: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the config with dotted keys set; None removes one.

    >>> with_edits({"a": 1, "text": {"b": 2}}, {"text.b": 3, "a": None})
    {'text': {'b': 3}}
    """
    result = dict(config)
    for path, value in edits.items():
        *outer, last = path.split(".")
        place = result
        for step in outer:
            held = place.get(step)
            place[step] = dict(held) if isinstance(held, Mapping) else {}
            place = place[step]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return result
