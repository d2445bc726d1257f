"""Models built by transformers, quietly, offline, and without running code that a checkpoint brings."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters.plausible import require_plausible
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said


def load_pretrained(
    folder: Path, config: Mapping[str, Any], dtype: torch.dtype, *, use_safetensors: bool = True, **more: Any
) -> tuple[nn.Module, dict[str, Any]]:
    """The folder's model in eval mode on the CPU, and the missing, unexpected and mismatched keys of its loading.

    A mismatched key comes with its shape in the file and in the model, which has drawn that tensor at random.
    """
    require_plausible(config)
    with quiet_transformers():
        try:
            model, report = model_class(config).from_pretrained(
                folder,
                dtype=dtype,
                local_files_only=True,
                use_safetensors=use_safetensors,
                trust_remote_code=False,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # they are reported, instead of no model and no reason
                **more,
            )
        except Exception as error:  # noqa: BLE001  transformers raises every kind of error for what it cannot load
            raise MissingEvidence(explain(error, config)) from None
    keys: dict[str, Any] = {k: sorted(map(str, report.get(f"{k}_keys", ()))) for k in ("missing", "unexpected")}
    mismatched = sorted(report.get("mismatched_keys", ()))
    return model.eval(), {**keys, "mismatched": [(str(k), tuple(file), tuple(own)) for k, file, own in mismatched]}


def in_full(loaded: tuple[nn.Module, Mapping[str, Any]]) -> nn.Module:
    """The model, unless it holds random numbers because a tensor of the files has another shape."""
    model, report = loaded
    if mismatched := report["mismatched"]:
        name, stored, own = mismatched[0]
        there, here = (" x ".join(map(str, shape)) for shape in (stored, own))
        raise MissingEvidence(
            f"transformers cannot load the model: {name} is {there} in the file, {here} by the config"
        )
    return model


def explain(error: Exception, config: Mapping[str, Any]) -> str:
    """One sentence for why transformers gave no model."""
    if isinstance(error, ImportError):
        return f"transformers cannot load it here: {said(error)}; install gnomon[hf]"
    own = " (its auto_map names code in the checkpoint, which gnomon never runs)" if "auto_map" in config else ""
    return f"transformers cannot load the model{own}: {said(error)}"


def model_class(config: Mapping[str, Any]) -> Any:
    """The class that `architectures` names when transformers itself has it, else AutoModel."""
    import transformers

    names = config.get("architectures")
    for name in names if isinstance(names, list) else ():
        found = getattr(transformers, name, None) if isinstance(name, str) else None
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found
    return transformers.AutoModel


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bar, log line, warning or network request while transformers works; settings are put back after."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import huggingface_hub.constants as hub
            from transformers.utils import logging
        except ImportError as error:
            raise MissingEvidence(explain(error, {})) from None
        offline, verbosity, bars = hub.HF_HUB_OFFLINE, logging.get_verbosity(), logging.is_progress_bar_enabled()
        hub.HF_HUB_OFFLINE = True
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            yield
        finally:
            hub.HF_HUB_OFFLINE = offline
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
