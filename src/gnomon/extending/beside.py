"""What else stands in a checkpoint folder and limits a length: the tokenizer's limit, and that of generation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from gnomon.adapters.checkpoints.huggingface import TOKENIZER
from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.extending.plan import Plan
from gnomon.extending.rotary.held import whole
from gnomon.extending.sentences import sentences

GENERATION: Final = "generation_config.json"


@final
@dataclass(frozen=True)
class Beside:
    """The two files, empty where they are not there."""

    tokenizer: Mapping[str, Any]
    generation: Mapping[str, Any]

    def plan(self, to: int, before: frozenset[int]) -> Plan:
        """Their limits raised to `to`: the tokenizer's where it is shorter, that of generation where it is one of the
        lengths `before`, so that it is the model's and not somebody's wish.

        >>> Beside({"model_max_length": 512}, {"max_length": 20}).plan(2048, frozenset({512})).tokenizer
        {'model_max_length': 2048}
        """
        cuts, limit = whole(self.tokenizer.get("model_max_length")), whole(self.generation.get("max_length"))
        tokenizer = {"model_max_length": to} if cuts and cuts < to else {}
        generation = {"max_length": to} if limit in before else {}
        words = []
        if tokenizer:
            words.append(f"the tokenizer cuts at {to:,} tokens instead of {cuts:,}")
        if generation:
            words.append(f"generation ends at {to:,} tokens instead of {limit:,}")
        return Plan(tokenizer=tokenizer, generation=generation, words=sentences(words))


def read_beside(folder: Path) -> Beside:
    """The files of a folder; raises UnsupportedTargetError for one that is no JSON object."""
    return Beside(
        *(read_json_object(folder / name) if (folder / name).exists() else {} for name in (TOKENIZER, GENERATION))
    )
