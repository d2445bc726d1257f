"""gnomon: build position encodings of Transformers, examine models for faults in them, measure, choose, ship them.

Every public name is imported when it is first used: `import gnomon` loads neither torch nor numpy.

>>> import gnomon
>>> gnomon.encodings.build("alibi", num_heads=8).relative
True
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon import attention, doctor, encodings, finetune, layouts, models, parallel, positions, testing
    from gnomon.adapters.fast_rotary import fast_rotary
    from gnomon.advisor import advise
    from gnomon.attention import rerotate_keys
    from gnomon.doctor import diagnose, inspect
    from gnomon.errors import GnomonError
    from gnomon.exporting import export
    from gnomon.extending import extend
    from gnomon.kernels.rotary import apply_rotary
    from gnomon.report.document import Report
    from gnomon.resolving import resolve

    __version__: str

__all__ = [
    "GnomonError",
    "Report",
    "__version__",
    "advise",
    "apply_rotary",
    "attention",
    "diagnose",
    "doctor",
    "encodings",
    "export",
    "extend",
    "fast_rotary",
    "finetune",
    "inspect",
    "layouts",
    "models",
    "parallel",
    "positions",
    "rerotate_keys",
    "resolve",
    "testing",
]

#: Names that come from a module; every other public name is a module of this package.
_HOMES = {
    "GnomonError": "gnomon.errors",
    "Report": "gnomon.report.document",
    "advise": "gnomon.advisor",
    "apply_rotary": "gnomon.kernels.rotary",
    "diagnose": "gnomon.doctor",
    "export": "gnomon.exporting",
    "extend": "gnomon.extending",
    "fast_rotary": "gnomon.adapters.fast_rotary",
    "inspect": "gnomon.doctor",
    "rerotate_keys": "gnomon.attention",
    "resolve": "gnomon.resolving",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gnomon")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:
        return importlib.import_module(f"gnomon.{name}")
    raise AttributeError(f"module 'gnomon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
