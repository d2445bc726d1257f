"""`gnomon env`: what a fault report should say about the machine, ready to paste."""

import os
import platform
from importlib import metadata
from importlib.util import find_spec

import typer

import gnomon

#: What each extra brings, by the names that are imported.
EXTRAS = {
    "hf": ("transformers", "tokenizers"),
    "gguf": ("gguf", "transformers"),
    "lab": ("accelerate", "conllu", "ray", "rdata", "scipy"),
    "onnx": ("onnx", "onnxruntime", "onnxscript"),
    "plots": ("jinja2", "matplotlib", "plotly"),
}
LIBRARIES = (
    "torch",
    "numpy",
    "safetensors",
    "transformers",
    "gguf",
    "accelerate",
    "ray",
    "onnxruntime",
    "matplotlib",
    "plotly",
)


def env() -> None:
    """Print what a fault report should say about this machine."""
    lines = {
        "gnomon": gnomon.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in LIBRARIES},
        "devices": ", ".join(_devices()),
        "threads": _threads(),
        "compiled kernel": _compiled_kernel(),
        "cache": _cache(),
        "missing extras": ", ".join(missing_extras()) or "none",
    }
    width = max(map(len, lines))
    typer.echo("\n".join(f"{name:<{width}}  {value}" for name, value in lines.items()))


def missing_extras() -> list[str]:
    """Extras of gnomon that are not wholly installed."""
    return [extra for extra, modules in EXTRAS.items() if any(find_spec(name) is None for name in modules)]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _devices() -> list[str]:
    import torch

    names = [f"cuda:{index} ({torch.cuda.get_device_name(index)})" for index in range(torch.cuda.device_count())]
    return ["cpu", *names, *(["mps"] if torch.backends.mps.is_available() else [])]


def _compiled_kernel() -> str:
    from gnomon.kernels import native

    if native.AVAILABLE:
        return f"yes ({native.reason()})"
    return f"no: {native.reason()}; rotary runs in plain torch"


def _cache() -> str:
    from gnomon.cache import cache_root

    return str(cache_root())


def _threads() -> str:
    import torch

    return f"{torch.get_num_threads()} of {os.cpu_count()} cores"
