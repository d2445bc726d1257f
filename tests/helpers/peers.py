"""Libraries that people use, as independent judges and as subjects; none is imported by gnomon itself."""

import importlib
import importlib.util
import sys
import warnings
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from torch import nn


@cache
def x_transformers() -> Any:
    """The package, which uses a part of torch that is deprecated when it is imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import x_transformers.x_transformers as module
    return module


@cache
def one_file(package: str, path: str) -> ModuleType:
    """One file of an installed package whose other files need packages that are not installed.

    >>> one_file("torchtune", "modules/position_embeddings.py").RotaryPositionalEmbeddings.__name__
    'RotaryPositionalEmbeddings'
    """
    name = f"{package}_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, _folder(package) / path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"{package} has no file {path}.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def timm_rotary() -> Any:
    """timm's rotary file with the few files beside it that it needs; the package itself needs torchvision."""
    package = ModuleType("timm_layers_alone")
    package.__path__ = [str(_folder("timm") / "layers")]
    sys.modules[package.__name__] = package
    return importlib.import_module(f"{package.__name__}.pos_embed_sincos")


@cache
def timm_models(name: str) -> Any:
    """One file of timm's models. What it needs of torchvision is stood in for; none of it stays loaded."""
    paths = ("timm", "timm.models", "timm.data", "torchvision", "torchvision.ops", "torchvision.ops.misc")
    parts = {path: ModuleType(path) for path in paths}
    parts["timm"].__path__, parts["timm.models"].__path__ = [str(_folder("timm"))], [str(_folder("timm") / "models")]
    numbers = ("IMAGENET_DEFAULT", "IMAGENET_INCEPTION", "OPENAI_CLIP")
    vars(parts["timm.data"]).update({f"{n}_{what}": (0.5, 0.5, 0.5) for n in numbers for what in ("MEAN", "STD")})
    vars(parts["timm"])["__version__"] = "1.0"
    vars(parts["torchvision.ops.misc"])["FrozenBatchNorm2d"] = nn.BatchNorm2d
    with patch.dict(sys.modules, parts), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(f"timm.models.{name}")


def _folder(package: str) -> Path:
    """Where an installed package lies, found without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed; scripts/setup.sh installs it.")
    return Path(found.origin).parent
