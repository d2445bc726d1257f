"""A checkpoint for longer contexts: frequencies scaled, tables stretched, and what became of the model measured."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gnomon.extending.asked import Asked as Asked
    from gnomon.extending.extended import Extended as Extended
    from gnomon.extending.extending import extend as extend
    from gnomon.extending.extending import prepare as prepare
    from gnomon.extending.rotary.methods.longrope import Lists as Lists

_HOME: Final = {
    "Asked": "gnomon.extending.asked",
    "Extended": "gnomon.extending.extended",
    "Lists": "gnomon.extending.rotary.methods.longrope",
    "extend": "gnomon.extending.extending",
    "prepare": "gnomon.extending.extending",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
