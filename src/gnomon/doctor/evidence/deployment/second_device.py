"""A second device without a second device: real values on the CPU, and a note on each tensor of where it would be.

Parameters, buffers and inputs would be on the accelerator; tensors made without a device, and those that hang on a
module as plain attributes, would stay on the host. `Tensor.device` says "cpu:0" for the accelerator: torch takes it for
the CPU, yet it differs from "cpu", so that a device which is passed on can be told from one that is not.
Unlike a run on the meta device, this goes through branches that look at values.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

AWAY, HOME = torch.device("cpu", 0), torch.device("cpu")
DEVICE_OF = torch.Tensor.device.__get__  # type: ignore[attr-defined]
FACTORIES = frozenset(
    (
        *("arange", "range", "linspace", "logspace", "zeros", "ones", "empty", "full", "eye", "tensor", "rand"),
        *("randint", "randperm", "tril_indices", "triu_indices", "hann_window", "bartlett_window", "normal", "asarray"),
        *("as_tensor", "scalar_tensor", "empty_strided", "randn"),
    )
)
MOVES = frozenset(("to", "type_as", "cpu"))
FROM_DATA = frozenset(("tensor", "as_tensor", "asarray"))
#: operations that take their other arguments from any device
CROSSING = frozenset(("__getitem__", "copy_", "to", "type_as", "__get__", "__set__", "set_", "data", "is_set_to"))


WIDE = (torch.float64, torch.complex128)
Kind = Literal["mix", "copy", "wide"]


@dataclass(frozen=True)
class Place:
    """Where a tensor would be, and which line or attribute put it there."""

    side: Literal["away", "home"]
    origin: str = ""


@dataclass(frozen=True)
class Meeting:
    """An operation on the accelerator that deserves a word.

    "mix": it would meet tensors of both devices. "copy": it brings a tensor from the host, anew in each call. "wide":
    its result would be float64.
    """

    kind: Kind
    where: str
    operation: str
    origin: str
    shape: tuple[int, ...]


class SecondDevice(TorchFunctionMode):
    """Follows where each tensor would be. Every tensor met is kept, so that no identity is used again."""

    def __init__(self, path: list[str]) -> None:
        super().__init__()
        self.path = path
        self.meetings: list[Meeting] = []
        self._places: dict[int, tuple[Tensor, Place]] = {}

    def put(self, tensor: Tensor, place: Place) -> None:
        self._places[id(tensor)] = (tensor, place)

    def place(self, tensor: Tensor) -> Place | None:
        known = self._places.get(id(tensor))
        return known[1] if known else None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == DEVICE_OF:
            found = self.place(args[0])
            return AWAY if found and found.side == "away" else func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        out = func(*args, **kwargs)
        given = list(_tensors((args, kwargs)))
        place = self._after(name, args, kwargs, given)
        if name in MOVES and isinstance(out, Tensor) and out is args[0] and place != self.place(out):
            out = out.view_as(out)  # on a second device a copy; here torch gave the tensor itself
        if place is not None:
            for tensor in _tensors(out):
                if not any(tensor is one for one in given):
                    self.put(tensor, place)
                    if place.side == "away" and tensor.ndim and tensor.dtype in WIDE:
                        self._note("wide", name, _line(), tensor)
        return out

    def _after(self, name: str, args: Any, kwargs: Any, given: list[Tensor]) -> Place | None:
        """Where the result of an operation would be; meetings are noted on the way."""
        asked = _device_asked(name, args, kwargs)
        if name in FACTORIES and not (name in FROM_DATA and args and isinstance(args[0], Tensor)):
            return Place("away") if asked == AWAY else Place("home", _line())
        if name == "type_as" or (name == "to" and len(args) > 1 and isinstance(args[1], Tensor)):
            return self._moved(args[0], self.place(args[1]))
        if asked is not None or name == "cpu":
            return self._moved(args[0] if args else None, Place("away") if asked == AWAY else Place("home", _line()))
        return self._joined(name, given)

    def _moved(self, value: Any, target: Place | None) -> Place | None:
        """The place of a tensor after it was sent to another's; a copy from the host to the device is noted."""
        first = self.place(value) if isinstance(value, Tensor) else None
        if target and target.side == "away" and first and first.side == "home" and value.ndim:
            self._note("copy", "to", first.origin, value)
        return target

    def _joined(self, name: str, given: list[Tensor]) -> Place | None:
        places = [(tensor, place) for tensor in given if (place := self.place(tensor)) is not None]
        away = [place for _, place in places if place.side == "away"]
        home = [(tensor, place) for tensor, place in places if place.side == "home"]
        crossing = name in CROSSING or (name == "__setitem__" and not _is_home(self.place(given[-1])))
        if crossing and places:
            return self.place(given[0])
        if away:
            for tensor, place in home:
                if tensor.ndim and tensor.numel():
                    self._note("mix", name, place.origin, tensor)
                    break
            return away[0]
        return home[0][1] if home else None

    def _note(self, kind: Kind, name: str, origin: str, tensor: Tensor) -> None:
        where = self.path[-1] if self.path else ""
        self.meetings.append(Meeting(kind, where, name.strip("_"), origin, tuple(tensor.shape)))


def move(module: nn.Module, mode: SecondDevice) -> None:
    """What `module.to(device)` moves is away; tensors that hang on it as plain attributes stay at home."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if name.startswith("_") and name in ("_parameters", "_buffers", "_modules"):
                continue
            for tensor in _tensors(value):
                mode.put(tensor, Place("home", f"plain attribute {path + '.' if path else ''}{name}"))
    for tensor in (*module.parameters(), *module.buffers()):
        mode.put(tensor, Place("away"))


def _is_home(place: Place | None) -> bool:
    return place is not None and place.side == "home"


def _device_asked(name: str, args: Any, kwargs: Any) -> torch.device | None:
    """The device that a call names; None when it names none."""
    given = kwargs.get("device")
    if given is None and name == "to":
        given = next((a for a in args[1:] if isinstance(a, str | torch.device)), None)
    return None if given is None else torch.device(given)


def _tensors(value: Any, depth: int = 3) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item, depth - 1)


def _line() -> str:
    """The line of the user's code that is running: the innermost frame outside torch and this file."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if file != __file__ and "/torch/" not in file and "jaxtyping" not in file and "beartype" not in file:
            return f"{'/'.join(file.split('/')[-2:])}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "?"
