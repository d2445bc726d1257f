"""A checkpoint for longer contexts: frequencies scaled, tables stretched, and what became of the model measured."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gnomon.extending.asked import Asked as Asked
    from gnomon.extending.checking.comparing import check as check
    from gnomon.extending.checking.results import Checked as Checked
    from gnomon.extending.extended import Extended as Extended
    from gnomon.extending.extending import extend as extend
    from gnomon.extending.extending import prepare as prepare
    from gnomon.extending.prepared import Prepared as Prepared
    from gnomon.extending.rotary.methods.longrope import Lists as Lists
    from gnomon.extending.searching.results import Searched as Searched
    from gnomon.extending.searching.running import search as search
    from gnomon.extending.tables.options import Options as Options

_HOME: Final = {
    "Asked": "gnomon.extending.asked",
    "Checked": "gnomon.extending.checking.results",
    "Extended": "gnomon.extending.extended",
    "Lists": "gnomon.extending.rotary.methods.longrope",
    "Options": "gnomon.extending.tables.options",
    "Prepared": "gnomon.extending.prepared",
    "Searched": "gnomon.extending.searching.results",
    "check": "gnomon.extending.checking.comparing",
    "extend": "gnomon.extending.extending",
    "prepare": "gnomon.extending.extending",
    "search": "gnomon.extending.searching.running",
}
__all__ = [
    "Asked",
    "Checked",
    "Extended",
    "Lists",
    "Options",
    "Prepared",
    "Searched",
    "check",
    "extend",
    "prepare",
    "search",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
