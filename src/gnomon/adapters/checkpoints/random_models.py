"""Models with random weights from a config alone: as the config says, shortened when it is too large, or as a twin."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, final

import torch
from torch import nn

from gnomon.adapters.checkpoints.shortened import shortened
from gnomon.adapters.checkpoints.transformers_models import explain, model_class, quiet_transformers
from gnomon.adapters.checkpoints.twin import differences, twin
from gnomon.adapters.plausible import require_plausible
from gnomon.adapters.subject import MissingEvidence

LARGEST_WHOLE = 30_000_000  # parameters of a bare config's model that is built as the config says
LARGEST_RANDOM = 500_000_000  # parameters that a bare config may make us allocate (2 GB in float32)
Make = Callable[..., nn.Module]


@final
class RandomModel:
    """The model of a config with random weights, always the same ones, built at most once and only when asked for.

    One that would take long is built as a twin: narrower, with its first layers and a small vocabulary, which leaves
    its positions as they are. `note` says, once it is built, how it is smaller than the config.
    """

    def __init__(
        self, config: Mapping[str, Any], dtype: torch.dtype, device: torch.device, *, is_twin: bool = False
    ) -> None:
        self._config, self._dtype, self._device, self._is_twin = config, dtype, device, is_twin
        self.note = ""

    @cached_property
    def model(self) -> nn.Module:
        """The model in eval mode; raises MissingEvidence when transformers cannot build it or it stays too large."""
        require_plausible(self._config)
        with quiet_transformers():
            try:
                make = model_class(self._config)
                make = make.from_config if hasattr(make, "from_config") else make._from_config
                parsed = self._twin_config(make) if self._is_twin else self._fitting_config(make)
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(0)
                    model: nn.Module = make(parsed, dtype=self._dtype)
            except MissingEvidence:
                raise
            except Exception as error:  # noqa: BLE001  transformers raises every kind of error for what it cannot build
                raise MissingEvidence(explain(error, self._config)) from None
        return model.eval().to(self._device)

    @property
    def fields(self) -> dict[str, Any]:
        """The config that the model was built from."""
        fields: dict[str, Any] = getattr(self.model, "config").to_dict()  # noqa: B009  a module has no such attribute
        return fields

    def _fitting_config(self, make: Make) -> Any:
        """The config as transformers reads it, shortened when the whole is too large."""
        parsed = _parsed(self._config)
        return parsed if _parameters(make, parsed) <= LARGEST_WHOLE else self._twin_config(make)

    def _twin_config(self, make: Make) -> Any:
        """The config of the twin; of a shortened model where a family cannot be built any narrower."""
        whole = _parsed(self._config).to_dict()  # with the sizes that the file leaves to defaults
        try:
            return self._smaller(make, _laid_over(self._config, whole, twin(whole)), "a twin")
        except MissingEvidence:
            raise
        except Exception:  # noqa: BLE001  a width of the family's own that must fit the others
            return self._smaller(make, _laid_over(self._config, whole, shortened(whole)), "a shortened model")

    def _smaller(self, make: Make, fields: Mapping[str, Any], what: str) -> Any:
        parsed = _parsed(fields)
        count = _parameters(make, parsed)
        if count > LARGEST_RANDOM:
            raise MissingEvidence(f"{what} still has {count:,} parameters, too many to build with random weights")
        changes = differences(_parsed(self._config).to_dict(), parsed.to_dict())
        listed = ", ".join(f"{key} {old:,} → {new:,}" for key, (old, new) in changes.items())
        self.note = f"What ran is {what} of this config with random weights: {listed or 'as large as the config says'}."
        return parsed


def _parsed(fields: Mapping[str, Any]) -> Any:
    from transformers import CONFIG_MAPPING

    return CONFIG_MAPPING[str(fields.get("model_type"))].from_dict(dict(fields))


def _parameters(make: Make, parsed: Any) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in make(parsed).parameters())


def _laid_over(written: Mapping[str, Any], whole: Mapping[str, Any], small: Mapping[str, Any]) -> dict[str, Any]:
    """The config as written with what is smaller in it; as read where the file keeps a part in another place."""
    parts = {key for key, value in small.items() if isinstance(value, Mapping) and _changed(whole[key], value)}
    if any(not isinstance(written.get(key), Mapping) for key in parts):
        return dict(small)
    over = {key: _laid_over(written[key], whole[key], small[key]) for key in parts}
    changed = {k: v for k, v in small.items() if k not in parts and v != whole.get(k)}
    return {**written, **changed, **over}


def _changed(before: Any, after: Mapping[str, Any]) -> bool:
    return bool(before != after)
