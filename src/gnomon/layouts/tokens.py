"""Token ids of a text by the target's own tokenizer, from files that are here."""

from pathlib import Path

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tokenizers import has_tokenizer, load_tokenizer
from gnomon.adapters.wording import said

#: plain English, for weights that were trained on any
PARAGRAPH = (
    "The old bridge crossed the river where the road from the hills came down to the market. Every morning the baker "
    "walked over it with a basket of bread, and every evening she walked back with the money she had earned. One day "
    "in spring the water rose so high that nobody could cross, and the people on both sides of the river stood in the "
    "rain and called to each other. When the sun came out again, they saw that the bridge was still there, and that "
    "it needed nothing but a few new stones."
)


def token_ids(subject: Subject, text: str, tokenizer: str | Path | None = None) -> Tensor:
    """(S,) int64, by the tokenizer in the folder `tokenizer`, or else by the target's own.

    Raises MissingEvidence where there is none that can be loaded.
    """
    path = Path(subject.target if tokenizer is None else tokenizer)
    if not path.exists() or path.suffix.lower() in (".json", ".safetensors", ".onnx"):
        raise MissingEvidence("the target has no tokenizer; name a folder that has the one of the model (--tokenizer)")
    if path.is_dir() and not has_tokenizer(path):
        raise MissingEvidence("the folder has no tokenizer; name a folder that has the one of the model (--tokenizer)")
    loaded = load_tokenizer(path)
    try:
        with quiet_transformers():
            return torch.tensor(loaded(text)["input_ids"], dtype=torch.int64)
    except Exception as error:  # noqa: BLE001  a tokenizer's files can be broken in any way
        raise MissingEvidence(f"the target's tokenizer cannot be used: {said(error)}") from None
