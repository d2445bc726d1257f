"""Where a model keeps what it has seen while it decodes: returned and passed back, an object it fills, or itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, final

from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.signature import OUTPUTS

ARGUMENTS = (
    *("past_key_values", "past_key_value", "cache", "kv_cache", "kv_caches", "caches", "past_kv", "past_kvs", "past"),
    *("layer_past", "past_states", "mems", "memory_states", "state", "states", "incremental_state", "cache_params"),
)
FACTORIES = ("new_cache", "make_cache", "init_cache", "create_cache", "empty_cache", "init_kv_cache", "make_kv_cache")
SET_UP = ("setup_caches", "setup_cache", "init_caches")
RESET = ("reset_cache", "reset_caches", "reset_kv_cache", "clear_cache", "clear_kv_cache", "reset_state", "reset")


class Memory(ABC):
    """The memory of one sequence that is being decoded."""

    cache: Any = None  #: the object that holds keys and values; None when the module holds them

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """What the forward is given so that it remembers."""

    def keep(self, result: Any) -> None:  # noqa: B027 - most memories have nothing to take from a result
        """Take from a call's result what the next call needs."""


Open = Callable[[nn.Module], Memory]


@final
class Returned(Memory):
    """The forward returns the memory and takes it back (Hugging Face; `logits, past = model(ids, past)`)."""

    def __init__(self, name: str, flags: Mapping[str, Any]) -> None:
        self.name, self.flags = name, dict(flags)

    def arguments(self) -> dict[str, Any]:
        return self.flags if self.cache is None else {**self.flags, self.name: self.cache}

    def keep(self, result: Any) -> None:
        self.cache = _returned(result, self.name)
        if self.cache is None:
            flag = "took use_cache=True but " if self.flags else ""
            raise MissingEvidence(f"the forward {flag}returned no cache")


@final
class Filled(Memory):
    """The caller makes the memory, and the forward fills it in place (`cache = model.new_cache()`, or a dict)."""

    def __init__(self, name: str, cache: Any, flags: Mapping[str, Any]) -> None:
        self.name, self.cache, self.flags = name, cache, dict(flags)

    def arguments(self) -> dict[str, Any]:
        return {**self.flags, self.name: self.cache}


@final
class Kept(Memory):
    """The module itself remembers, from one call to the next."""

    def __init__(self, flags: Mapping[str, Any]) -> None:
        self.flags = dict(flags)

    def arguments(self) -> dict[str, Any]:
        return self.flags


def set_up(module: nn.Module, batch: int, length: int) -> None:
    """Make room in a module that remembers, and have it forget what was before; nothing where it offers neither."""
    for name in SET_UP:
        for given in ({"max_batch_size": batch, "max_seq_length": length}, {"batch_size": batch, "max_length": length}):
            if _called(module, name, **given):
                return
        if _called(module, name, batch, length):
            return
    forget(module)


def forget(module: nn.Module) -> None:
    """Call what a module offers to have it forget the last sequence."""
    for name in RESET:
        if _called(module, name):
            return


def factory_of(module: nn.Module) -> Callable[[], Any] | None:
    """The module's method that makes an empty cache."""
    for name in FACTORIES:
        method = getattr(module, name, None)
        if callable(method):
            try:
                method()
            except Exception:  # noqa: BLE001 - it wants arguments that nobody knows
                continue
            return method  # type: ignore[no-any-return]
    return None


def _called(module: nn.Module, name: str, *values: Any, **named: Any) -> bool:
    method = getattr(module, name, None)
    if not callable(method):
        return False
    try:
        method(*values, **named)
    except Exception:  # noqa: BLE001 - another signature
        return False
    return True


def _returned(result: Any, name: str) -> Any:
    """The part of a result that is the memory: by its name, else what stands beside the outputs."""
    for key in dict.fromkeys((name, *ARGUMENTS)):
        value = result.get(key) if isinstance(result, Mapping) else getattr(result, key, None)
        if value is not None and not callable(value):
            return value
    if not isinstance(result, tuple | list) or len(result) < 2 or hasattr(result, OUTPUTS[0]):
        return None
    beside = [part for part in result[1:] if part is not None and not (isinstance(part, Tensor) and part.ndim == 0)]
    return beside[-1] if beside else None
