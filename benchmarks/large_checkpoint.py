"""How long an examination of a 141 GB checkpoint takes, and how much memory it adds, without running the model.

`python -m benchmarks.large_checkpoint` makes Llama 3 70B as sparse files in a temporary folder (limits: 2 seconds and
300 MB), and OPT 66B, whose table of positions alone has 19 million numbers, to be watched. Each is examined in
a process of its own.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.helpers.sparse_checkpoints import sparse_folder, sparse_llama

WIDE, LAYERS, WORDS = 9216, 64, 50272
OPT_66B = {"model_type": "opt", "hidden_size": WIDE, "num_attention_heads": 72, "num_hidden_layers": LAYERS}
OPT_66B |= {"ffn_dim": 4 * WIDE, "word_embed_proj_dim": WIDE, "vocab_size": WORDS, "max_position_embeddings": 2048}


def examine(folder: Path) -> tuple[float, float]:
    """Seconds and megabytes that the examination of a folder adds to a process that has imported gnomon."""
    import gnomon

    gnomon.diagnose(folder.parent / "warm", forward=False)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    gnomon.diagnose(folder, forward=False)
    seconds = time.perf_counter() - started
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """Make the folders, examine each in a fresh process, print a line for each."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        warm = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2}
        sparse_folder(root / "warm", warm, {"model.embed_tokens.weight": ("BF16", (9, 8))}, shards=1)
        sparse_llama(root / "llama-70b")
        shapes: dict[str, tuple[str, tuple[int, ...]]] = {
            "model.decoder.embed_tokens.weight": ("BF16", (WORDS, WIDE)),
            "model.decoder.embed_positions.weight": ("F32", (2050, WIDE)),
        }
        table = np.random.default_rng(0).normal(size=(2050, WIDE)) / 50
        for layer in range(LAYERS):
            for name, shape in {"q_proj": (WIDE, WIDE), "k_proj": (WIDE, WIDE), "fc1": (4 * WIDE, WIDE)}.items():
                shapes[f"model.decoder.layers.{layer}.{name}.weight"] = ("BF16", shape)
        sparse_folder(
            root / "opt-66b", OPT_66B, shapes, shards=14, values={"model.decoder.embed_positions.weight": table}
        )
        for folder in (root / "llama-70b", root / "opt-66b"):
            command = [sys.executable, "-m", "benchmarks.large_checkpoint", str(folder)]
            seconds, megabytes = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(f"{folder.name}: {seconds:.2f} s, {megabytes:.0f} MB")  # noqa: T201


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(examine(Path(sys.argv[1]))))  # noqa: T201
    else:
        main()
