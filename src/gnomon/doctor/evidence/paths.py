"""Which module is running, by its dotted path."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def running_path(module: nn.Module) -> Iterator[list[str]]:
    """The dotted path of the module that is running, as a stack that hooks keep."""
    stack: list[str] = []
    handles = []

    def leave(*_: Any) -> None:
        stack.pop()

    for path, part in module.named_modules():
        handles.append(part.register_forward_pre_hook(lambda *_, path=path: stack.append(path)))
        handles.append(part.register_forward_hook(leave, always_call=True))
    try:
        yield stack
    finally:
        for handle in handles:
            handle.remove()
