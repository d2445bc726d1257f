"""Ways of a benchmark as code for a process of its own, where their memory is measured."""

from collections.abc import Mapping
from typing import Any

from gnomon.bench.cell import Child

_CODE = """
from {module} import {make}

def setup(name, warm, sizes):
    {make}(name, **{{**sizes, **warm}})()
    return {make}(name, **sizes)

def run(call):
    return call()
"""


def child(name: str, module: str, make: str, sizes: Mapping[str, Any], *, warm: Mapping[str, Any]) -> Child:
    """The row `name`, whose call is `make(name, **sizes)` of the module.

    The same at the sizes of `warm` is called before, so that what a library loads at its first call is there.
    """
    return Child(name, _CODE.format(module=module, make=make), {"name": name, "warm": dict(warm), "sizes": dict(sizes)})
