"""Token ids of a text by the target's own tokenizer, from files that are here."""

from pathlib import Path

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said

FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
#: plain English, for weights that were trained on any
PARAGRAPH = (
    "The old bridge crossed the river where the road from the hills came down to the market. Every morning the baker "
    "walked over it with a basket of bread, and every evening she walked back with the money she had earned. One day "
    "in spring the water rose so high that nobody could cross, and the people on both sides of the river stood in the "
    "rain and called to each other. When the sun came out again, they saw that the bridge was still there, and that "
    "it needed nothing but a few new stones."
)


def token_ids(subject: Subject, text: str) -> Tensor:
    """(S,) int64; raises MissingEvidence where the target has no tokenizer that can be loaded."""
    path = Path(subject.target)
    if not path.exists() or path.suffix.lower() in (".json", ".safetensors", ".onnx"):
        raise MissingEvidence("the target has no tokenizer; give token ids as text")
    if path.is_dir() and not any((path / file).exists() for file in FILES):
        raise MissingEvidence("the folder has no tokenizer; give token ids as text")
    place, name = (path, None) if path.is_dir() else (path.parent, path.name)
    try:
        from transformers import AutoTokenizer

        with quiet_transformers():
            options = {} if name is None else {"gguf_file": name}
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False, **options)
            return torch.tensor(tokenizer(text)["input_ids"], dtype=torch.int64)
    except Exception as error:  # noqa: BLE001  a tokenizer's files can be broken in any way
        raise MissingEvidence(f"the target's tokenizer cannot be loaded: {said(error)}") from None
