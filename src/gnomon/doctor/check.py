"""What a check is: a code, a name, a severity, the evidence it needs, and a generator of measurements and findings."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gnomon.adapters.subject import Subject
from gnomon.errors import GnomonError
from gnomon.registry import Registry
from gnomon.report.document import Finding, Measured, Severity

Body = Callable[[Subject], Iterator[Finding | Measured]]
Derive = Callable[[Subject], Any]

registry: Registry["Check"] = Registry("check", package="gnomon.doctor.checks")

GROUPS = {
    "PE1": "config only",
    "PE2": "tensors and tables",
    "PE3": "one forward pass",
    "PE4": "decoding, padding, packing, caches",
    "PE5": "gradients and training",
    "PE6": "export, distribution, deployment",
    "PE7": "data and lengths",
}

#: each kind of evidence that a check may name, in a reader's words
EVIDENCE = {
    "config": "a config",
    "claims": "what the config, or gnomon's own modules, say about positions",
    "tokenizer": "a tokenizer_config.json",
    "reference_config": "the config before the change, given as reference",
    "device_map": "a device map, given by the caller",
    "loading": "a model loaded from files",
    "trained": "weights from a checkpoint",
    "tables": "a table of positions or stored frequencies",
    "running_tables": "a table of positions or frequencies, stored or built by the loaded model",
    "position_tables": "a table with a vector for each position",
    "module": "a model",
    "model": "a model that runs",
    "entry": "hidden vectors to watch in a model that runs",
    "used_table": "vectors added to the embeddings of a model that runs",
    "backends": "a model with attention that can be computed in more than one way",
    "earlier_calls": "a model that runs at more than one length",
    "component": "a bare position module",
    "limit": "a model that runs at more than one length",
    "repeats": "vectors or angles for each position, seen in a model that runs",
    "slow_backends": "a model that can run flex attention",
    "causality": "a model with an output for each token",
    "reordering": "a model with an output for each token",
    "mixing": "a model in which tokens meet",
    "rotary_uses": "a rotation of queries and keys, seen in a model that runs",
    "index_tables": "a stored index of positions, offsets or buckets",
    "stored_slopes": "a buffer of ALiBi slopes",
    "layout_loss": "text, and trained weights of a causal model with a rotation",
    "angle_caches": "a cache of cosines and sines",
    "resized_tables": "the table of positions before it was resized (reference=...)",
    "tensors": "the tensors of a model or of its files",
    "word_table": "a table of words, known by its name",
    "heads": "the width and the rotated width of a head",
    "reference_subject": "the model as it was before it was converted or resized (reference=...)",
    "bias_uses": "a bias on the attention logits, seen in a model that runs",
    "scores": "attention logits that are products and a bias, seen in a model that runs",
    "turned_lanes": "queries and keys of attention, seen in a model that runs",
    "scores_by_distance": "attention without absolute positions, in a model that runs",
    "decoding": "a model that decodes through a cache",
    "embedded": "a model that takes vectors in place of token ids",
    "switch": "a model that decodes through a cache, and texts of two lengths",
    "beyond_table": "a model that decodes through a cache and reads positions from a table",
    "generation": "a model with a method generate",
    "window": "a cache that drops old tokens",
    "planes": "an example that holds an image, and a config that names its tokens",
    "packings": "a model that can be told where packed documents end",
    "gradients": "a learned table in a model that runs",
    "backward": "a parameter that carries positions, in a model that runs",
    "optimizer": "the optimizer that trains the model",
    "optimizing": "an optimizer, and a parameter that carries positions",
    "training_step": "an optimizer or batches, and a model that runs",
    "example": "forward arguments that hold position ids",
    "batch_arguments": "batches, as training uses them",
    "visits": "batches, and a table of positions in a model that runs",
    "loss_by_position": "text, and trained weights of a causal model that runs",
    "lengths_in_use": "the lengths of inputs",
    "length_limits": "a length that a config states, or a table",
    "recovery_by_layer": "blocks whose hidden states can be read, in a model that runs",
    "recovery": "blocks whose hidden states can be read, in a model that runs",
    "device_audit": "a model that runs on the CPU",
    "materialised": "a model that can be emptied and loaded again",
    "fixed_tables": "a fixed table in a buffer, and a way to build the module anew",
    "operations": "a model that runs",
    "length_state": "a model that runs at more than one length",
    "compiled": "a model that runs at five lengths",
    "exported": "a model that runs, and onnxruntime",
    "graph": "an .onnx file",
    "bias_memory": "a model that runs at two lengths",
    "shares": "the positions of each rank of a split sequence",
    "slopes": "the ALiBi slopes of each rank",
}


@dataclass(frozen=True)
class Check:
    """One check. Its docstring is its page: a summary line, then paragraphs that start with Why:, Fix:, Sources:."""

    code: str
    name: str
    severity: Severity
    needs: tuple[str, ...]
    body: Body
    heavy: bool = False  #: takes many seconds: run only when its code is selected, or everything is wanted

    @property
    def doc(self) -> str:
        return inspect.cleandoc(self.body.__doc__ or "")

    @property
    def needed(self) -> str:
        """The evidence it needs, in a reader's words."""
        return "; ".join(dict.fromkeys(EVIDENCE.get(need, need.replace("_", " ")) for need in self.needs)) or "nothing"

    @property
    def title(self) -> str:
        """The summary line of the page."""
        return self.doc.split("\n\n")[0].replace("\n", " ")

    def section(self, heading: str) -> str:
        """The paragraph of the page that starts with `heading:`; empty when there is none."""
        match = re.search(rf"^{heading}: (.*?)(?=\n\n|\Z)", self.doc, flags=re.DOTALL | re.MULTILINE)
        return re.sub(r"\s+", " ", match.group(1)) if match else ""


def check(
    code: str, name: str, *, severity: Severity, needs: tuple[str | Derive, ...], heavy: bool = False
) -> Callable[[Body], Body]:
    """Register a check under its code. `needs` names raw evidence or the derived evidence functions it calls."""
    if not re.fullmatch(r"PE[1-7]\d\d", code):
        raise GnomonError(f"A check's code is PE, a group digit 1-7 and two digits; got {code!r}.")

    def add(body: Body) -> Body:
        names = tuple(need if isinstance(need, str) else need.__name__ for need in needs)
        registry.register(code)(Check(code, name, severity, names, body, heavy))
        return body

    return add
