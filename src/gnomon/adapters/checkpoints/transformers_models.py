"""Models built by transformers, quietly, offline, and without running code that a checkpoint brings."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters.checkpoints.shortened import shortened
from gnomon.adapters.plausible import require_plausible
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said

LARGEST_RANDOM = 500_000_000  # parameters that a bare config may make us allocate (2 GB in float32)


def load_pretrained(
    folder: Path, config: Mapping[str, Any], dtype: torch.dtype, *, use_safetensors: bool = True, **more: Any
) -> tuple[nn.Module, dict[str, Any]]:
    """The folder's model in eval mode on the CPU, and the missing, unexpected and mismatched keys of its loading."""
    require_plausible(config)
    with quiet_transformers():
        try:
            model, report = _model_class(config).from_pretrained(
                folder,
                dtype=dtype,
                local_files_only=True,
                use_safetensors=use_safetensors,
                trust_remote_code=False,
                output_loading_info=True,
                **more,
            )
        except Exception as error:  # noqa: BLE001  transformers raises every kind of error for what it cannot load
            raise MissingEvidence(explain(error, config)) from None
    kinds = ("missing", "unexpected", "mismatched")
    return model.eval(), {kind: sorted(map(_key, report.get(f"{kind}_keys", ()))) for kind in kinds}


def build_random(config: Mapping[str, Any], dtype: torch.dtype) -> nn.Module:
    """A model of this config with random weights, always the same ones.

    A model that would not fit a small machine is built with its first layers and a small vocabulary, which leaves its
    positions as they are; raises MissingEvidence when even that is too large.
    """
    require_plausible(config)
    with quiet_transformers():
        try:
            make = _model_class(config)
            make = make.from_config if hasattr(make, "from_config") else make._from_config
            parsed = _small_enough(make, config)
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                model: nn.Module = make(parsed, dtype=dtype)
        except MissingEvidence:
            raise
        except Exception as error:  # noqa: BLE001
            raise MissingEvidence(explain(error, config)) from None
    return model.eval()


def _small_enough(make: Callable[[Any], nn.Module], config: Mapping[str, Any]) -> Any:
    """The config as transformers reads it, shortened when the whole is too large."""
    from transformers import CONFIG_MAPPING

    count = 0
    for fields in (config, shortened(config)):
        parsed = CONFIG_MAPPING[str(fields.get("model_type"))].from_dict(dict(fields))
        with torch.device("meta"):
            count = sum(parameter.numel() for parameter in make(parsed).parameters())
        if count <= LARGEST_RANDOM:
            return parsed
    raise MissingEvidence(f"the first layers alone have {count:,} parameters, too many to build with random weights")


def explain(error: Exception, config: Mapping[str, Any]) -> str:
    """One sentence for why transformers gave no model."""
    if isinstance(error, ImportError):
        return f"transformers cannot load it here: {said(error)}; install gnomon[hf]"
    own = " (its auto_map names code in the checkpoint, which gnomon never runs)" if "auto_map" in config else ""
    return f"transformers cannot load the model{own}: {said(error)}"


def _key(item: Any) -> str:
    return str(item[0] if isinstance(item, tuple) else item)


def _model_class(config: Mapping[str, Any]) -> Any:
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
