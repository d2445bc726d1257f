"""Hugging Face folders and config files as Subjects. Nothing that a folder brings is executed."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, final

import torch
from torch import nn

from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.adapters.checkpoints.pickle_file import PickleFile
from gnomon.adapters.checkpoints.random_models import RandomModel
from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile, shards
from gnomon.adapters.checkpoints.transformers_models import in_full, load_pretrained
from gnomon.adapters.checkpoints.weight_files import SAFE, SAFE_INDEX, model_files
from gnomon.adapters.example import example_for
from gnomon.adapters.families import claims_of, family_of
from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.placement import NO_FORWARD, parse_device, parse_dtype
from gnomon.adapters.subject import Absent, Lazy, MissingEvidence, Subject
from gnomon.adapters.tensors import TensorSource
from gnomon.errors import UnsupportedTargetError

CONFIG, TOKENIZER = "config.json", "tokenizer_config.json"
PICKLE, PICKLE_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"


def folder_subject(
    folder: Path,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    allow_pickle: bool = False,
    forward: bool = True,
) -> Subject:
    """A folder as `save_pretrained` writes it: config.json, and weights in safetensors (in pickles if allowed)."""
    place, number = parse_device(device), parse_dtype(dtype)
    config = folder_config(folder)
    tensors = _tensors(folder, allow_pickle=allow_pickle)
    loaded = _Loaded(folder, config, place, number, safe=isinstance(tensors, SafetensorsFile))
    reason = NO_FORWARD if not forward else tensors.reason if isinstance(tensors, Absent) else None
    subject = Subject(
        str(folder),
        **config_evidence(config),
        tensors=tensors,
        module=Lazy(lambda: in_full(loaded.model)) if reason is None else Absent(reason),
        loading=Lazy(lambda: loaded.model[1]) if reason is None else Absent(reason),
        example=Lazy(lambda: example_for(subject, None, place)),
        tokenizer=_tokenizer(folder),
        trained=not isinstance(tensors, Absent),
    )
    return subject


def config_subject(
    path: Path,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    forward: bool = True,
) -> Subject:
    """A config.json alone: its claims, and a model with random weights when it is small enough to build."""
    place, number = parse_device(device), parse_dtype(dtype)
    config = read_json_object(path)
    built = RandomModel(config, number, place)
    subject = Subject(
        str(path),
        **config_evidence(config),
        tensors=Absent("a config file holds no tensors"),
        module=Lazy(lambda: built.model) if forward else Absent(NO_FORWARD),
        built=built,
        example=Lazy(lambda: example_for(subject, None, place)),
        tokenizer=_tokenizer(path.parent),
        trained=False,
    )
    return subject


def twin_subject(path: Path, config: Mapping[str, Any], device: Any, dtype: Any) -> Subject:
    """The shrunken twin of a config, as a model with random weights and the config and claims that are its own."""
    place = parse_device(device)
    built = RandomModel(config, parse_dtype(dtype), place, is_twin=True)
    fields = Lazy(lambda: built.fields)
    subject = Subject(
        str(path),
        config=fields,
        claims=Lazy(lambda: claims_of(fields.compute())),
        family=Lazy(lambda: family_of(fields.compute())),
        tensors=Lazy(lambda: ModuleTensors(built.model)),
        module=Lazy(lambda: built.model),
        loading=Absent("a twin loads no weights"),
        example=Lazy(lambda: example_for(subject, None, place)),
        tokenizer=Absent("a twin has words of its own"),
        trained=False,
        built=built,
    )
    return subject


def folder_config(folder: Path) -> dict[str, Any]:
    """The config.json of a folder; raises UnsupportedTargetError when it has none that can be read."""
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError as error:
        raise UnsupportedTargetError(f"The folder {folder} cannot be read: {error.strerror}.") from None
    if not names:
        raise UnsupportedTargetError(f"The folder {folder} is empty; gnomon needs a config.json in it.")
    if CONFIG not in names:
        raise UnsupportedTargetError(f"The folder {folder} has no {CONFIG}, so it is not a Hugging Face model folder.")
    return read_json_object(folder / CONFIG)


def config_evidence(config: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence that any Hugging Face config gives: itself, its claims, and its family."""
    return {
        "config": config,
        "claims": Lazy(lambda: claims_of(config)),
        "family": Lazy(lambda: family_of(config)),
    }


@final
class _Loaded:
    """The model of a folder, loaded at most once for both the model and the report of its loading."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any], device: torch.device, dtype: torch.dtype, *, safe: bool
    ) -> None:
        self._folder, self._config, self._device, self._dtype, self._safe = folder, config, device, dtype, safe

    @cached_property
    def model(self) -> tuple[nn.Module, Mapping[str, Any]]:
        model, report = load_pretrained(self._folder, self._config, self._dtype, use_safetensors=self._safe)
        return model.to(self._device), report


def _tensors(folder: Path, *, allow_pickle: bool) -> TensorSource | Absent:
    if names := model_files(folder):
        return SafetensorsFile(*(folder / name for name in names))
    pickles = [name for name in (PICKLE, PICKLE_INDEX) if (folder / name).exists()]
    if not pickles:
        return Absent(f"the folder has no weights ({SAFE} or {SAFE_INDEX})")
    if not allow_pickle:
        return Absent(f"the weights are in {pickles[0]}, a pickle; convert them to safetensors or give --allow-pickle")
    index = folder / pickles[0]
    return PickleFile(*(shards(index) if pickles[0] == PICKLE_INDEX else (index,)))


def _tokenizer(folder: Path) -> Mapping[str, Any] | Lazy[Mapping[str, Any]] | Absent:
    path = folder / TOKENIZER
    if not path.exists():
        return Absent(f"there is no {TOKENIZER}")

    def read() -> Mapping[str, Any]:
        try:
            return read_json_object(path)
        except UnsupportedTargetError as error:
            raise MissingEvidence(str(error).rstrip(".")) from None

    return Lazy(read)
