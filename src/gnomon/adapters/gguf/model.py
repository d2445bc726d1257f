"""The model of a GGUF file: dequantised by transformers once, kept as bfloat16 safetensors, and loaded from there."""

import hashlib
import logging
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, final

import torch
from torch import nn

from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.adapters.checkpoints.transformers_models import explain, load_pretrained, quiet_transformers
from gnomon.adapters.families import family_of
from gnomon.adapters.gguf.cache_folder import made_once
from gnomon.adapters.gguf.config import GGUFConfig
from gnomon.adapters.gguf.scaling import Scaling, scaling_of
from gnomon.adapters.plausible import require_plausible
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said
from gnomon.errors import GnomonError

log = logging.getLogger(__name__)
AUTO = {"decoder": "AutoModelForCausalLM", "encoder": "AutoModel", "encoder-decoder": "AutoModelForSeq2SeqLM"}
DROPPED = ("quantization_config", "_name_or_path", "dtype", "torch_dtype")


@final
class GGUFModel:
    """Loads the model at most once. Progress goes to the logger `gnomon.adapters.gguf.model` at level INFO."""

    def __init__(self, path: Path, read: GGUFConfig, device: torch.device, dtype: torch.dtype) -> None:
        self._path, self._read, self._device, self._dtype = path, read, device, dtype

    @cached_property
    def loaded(self) -> tuple[nn.Module, Mapping[str, Any]]:
        """The model and the report of its loading; raises MissingEvidence when transformers cannot make it."""
        try:
            folder = made_once(self._key(), self._convert)
            config = read_json_object(folder / "config.json")
        except OSError as error:
            raise MissingEvidence(f"the converted model cannot be kept ({error}); set GNOMON_CACHE") from None
        model, report = load_pretrained(folder, config, self._dtype)
        if (scaling := self._scaling()) is not None:
            scaling.require_in(model)
        return model.to(self._device), report

    def _key(self) -> str:
        """Named by content, so that a file that changes in place is converted again."""
        with self._path.open("rb") as file:
            return f"gguf-{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}-bfloat16-2"

    def _scaling(self) -> Scaling | None:
        try:
            return scaling_of(self._read)
        except GnomonError as error:
            raise MissingEvidence(f"the scaling of the file cannot be computed: {error}") from None
        except (TypeError, ValueError, ArithmeticError) as error:  # a file may hold anything
            raise MissingEvidence(f"the scaling of the file cannot be computed ({said(error)})") from None

    def _convert(self, work: Path) -> None:
        log.info("converting %s through transformers (once; about 30 s for 100 MB)", self._path.name)
        require_plausible(self._read.config)
        auto = AUTO[family_of(self._read.config).architecture]
        scaling = self._scaling()
        with quiet_transformers():
            try:
                _read(self._path, auto, scaling).save_pretrained(work)
            except MissingEvidence:
                raise
            except Exception as error:  # noqa: BLE001  transformers raises every kind of error for what it cannot load
                raise MissingEvidence(explain(error, self._read.config)) from None
        log.info("converted %s", self._path.name)


def _read(path: Path, auto: str, scaling: Scaling | None) -> Any:
    """The model in bfloat16, with the scaling of the file.

    (from_pretrained would ask for accelerate, and leave a config that cannot be saved.)
    """
    import transformers

    read = transformers.AutoConfig.from_pretrained(path.parent, gguf_file=path.name, local_files_only=True)
    values = {key: value for key, value in read.to_dict().items() if key not in DROPPED}
    config = type(read)(**(values if scaling is None else scaling.put(values)))
    with torch.device("meta"):
        model = getattr(transformers, auto).from_config(config)
    model.load_state_dict(_tensors(path, model), strict=False, assign=True)
    model.tie_weights()
    lacking = [name for name, parameter in model.named_parameters() if parameter.is_meta]
    if lacking:
        raise MissingEvidence(f"the file lacks {len(lacking)} tensors that its model needs, {lacking[0]} among them")
    return model


def _tensors(path: Path, model: nn.Module) -> Any:
    """The file's tensors under the model's names, without the progress bar that nothing else turns off."""
    from transformers import modeling_gguf_pytorch_utils as reading

    bar = reading.tqdm
    reading.tqdm = partial(bar, disable=True)
    try:
        read = reading.load_gguf_checkpoint(
            str(path), return_tensors=True, model_to_load=model, torch_dtype=torch.bfloat16
        )
    finally:
        reading.tqdm = bar
    return read["tensors"]
