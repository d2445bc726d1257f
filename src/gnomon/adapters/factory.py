"""`package.module:factory`: imports and calls what the user names, and turns every way to fail into one sentence."""

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from gnomon.adapters.wording import said
from gnomon.errors import UnsupportedTargetError


def call_factory(target: str) -> tuple[nn.Module, Any]:
    """The module that the factory makes, and its example or None. Modules beside the user are importable.

    Raises UnsupportedTargetError when the import, the attribute or the call fails, or the result is not a module.
    """
    path, _, name = target.partition(":")
    with _current_directory_first():
        factory = _find(path, name, target)
        with _one_sentence(f"The factory {target} raised"):
            made = factory()
    return split(made, f"The factory {target}")


def split(made: Any, source: str) -> tuple[nn.Module, Any]:
    """(module, example) from a module or from a pair of a module and a tuple or mapping of forward arguments."""
    if isinstance(made, nn.Module):
        return made, None
    pair = isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], nn.Module)
    if not pair or not isinstance(made[1], (tuple, list, Mapping)):
        given = (
            f"({', '.join(type(part).__name__ for part in made)})" if isinstance(made, tuple) else type(made).__name__
        )
        raise UnsupportedTargetError(f"{source} must give an nn.Module or (module, tuple or dict), but gives {given}.")
    return made[0], made[1]


def _find(path: str, name: str, target: str) -> Any:
    with _one_sentence(f"The module {path!r} of {target} cannot be imported:"):
        found: Any = importlib.import_module(path)
    for part in name.split("."):
        with _one_sentence(f"Looking up {name!r} in {path!r} raised"):
            there = hasattr(found, part)
            found = getattr(found, part, None)
        if not there:
            raise UnsupportedTargetError(f"{path!r} has no {name!r}, so {target} names nothing.")
    if not callable(found):
        raise UnsupportedTargetError(f"{target} is a {type(found).__name__}, not a function that makes a model.")
    return found


@contextmanager
def _one_sentence(what: str) -> Iterator[None]:
    """Whatever the user's code raises, SystemExit too, is an error of the target; only an interrupt passes through."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  the user's code may raise anything
        raise UnsupportedTargetError(f"{what} {said(error)}.") from None


@contextmanager
def _current_directory_first() -> Iterator[None]:
    """`import` sees the current directory, as `python -m` does, and forgets it afterwards; nobody is moved by it."""
    here = _here()
    sys.path.insert(0, here)
    try:
        importlib.invalidate_caches()
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)
        _return_to(here)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise UnsupportedTargetError("The current folder does not exist any more; go to one that does.") from None


def _return_to(folder: str) -> None:
    """Back to where the user is: a relative path of an output counts from there, and torch fails without a folder."""
    try:
        os.chdir(folder)
    except OSError:
        raise UnsupportedTargetError(f"The target's code removed the current folder {folder}; go to another.") from None
