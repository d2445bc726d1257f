"""Export a decoder to ONNX and serve it in onnxruntime with a cache: `python examples/export_and_run.py`.

The graph takes any batch and any length, prompts padded on the left, and the keys and values of earlier tokens. One
graph serves the prompt and every step. Rotation is the standard operator RotaryEmbedding where the runtime has it; the
tokens that onnxruntime chooses must be those that PyTorch chooses.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor

import gnomon
from gnomon import positions
from gnomon.encodings import Rotary
from gnomon.models import Decoder, ModelOptions

PROMPTS, MASK = torch.tensor([[0, 0, 17, 3], [5, 29, 8, 41]]), torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
HEADS, DIM, STEPS = 4, 64, 8
SIZES = ModelOptions(vocabulary=50, dim=DIM, num_layers=2, num_heads=HEADS, num_key_heads=2)


def generate(session: Any, prompts: Tensor, mask: Tensor) -> Tensor:
    """Append the most likely token STEPS times: (B, S) -> (B, S + STEPS), with onnxruntime alone."""
    ids, new = prompts, prompts
    past = {
        port.name: np.zeros((len(ids), port.shape[1], 0, port.shape[3]), dtype=np.float32)
        for port in session.get_inputs()
        if port.name.startswith("past_key_values")
    }
    names = [port.name for port in session.get_outputs()]
    for _ in range(STEPS):
        at = positions.after_mask(mask, new=new.shape[1])
        given = {"input_ids": new.numpy(), "attention_mask": mask.numpy(), "position_ids": at.numpy(), **past}
        logits, *stored = session.run(names, given)
        past = dict(zip(past, stored, strict=True))
        new = torch.from_numpy(logits[:, -1:].argmax(-1))
        ids, mask = torch.cat((ids, new), dim=1), torch.cat((mask, mask.new_ones(len(mask), 1)), dim=1)
    return ids


def main() -> None:
    torch.manual_seed(0)
    model = Decoder(SIZES, encoding=Rotary(DIM // HEADS)).eval()
    for parameter in model.stack.blocks.parameters():
        parameter.data *= 2  # fresh weights are small: hardly a token would depend on another
    for rotary in ("arithmetic", "operator"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            exported = gnomon.export(model, path, rotary=rotary, cache=True, max_length=128)
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            got = generate(session, PROMPTS, MASK)
        want = model.generate(PROMPTS, steps=STEPS, attention_mask=MASK)
        print(f"{rotary:<10} opset {exported.opset}, differs from PyTorch by {exported.largest_difference:.1e}")
        print("           onnxruntime chose", got[0, -STEPS:].tolist(), "and", got[1, -STEPS:].tolist())
        if not torch.equal(got, want):
            raise SystemExit(f"PyTorch chose {want[:, -STEPS:].tolist()}.")


if __name__ == "__main__":
    main()
