"""The state of an optimizer for longer tables: the moments of each row follow the row, and the count of steps stays.

AdamW: Loshchilov and Hutter 2019, arXiv:1711.05101; its averages are linear in gradients, and in their squares.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from torch import Tensor

from gnomon.adapters.checkpoints.optimizer_state import optimizer_bytes, optimizer_file, read_optimizer_state
from gnomon.adapters.tensors import TensorSource
from gnomon.errors import GnomonError
from gnomon.extending.tables.resized import Resized

LINEAR: Final = ("exp_avg", "momentum_buffer")
SQUARED: Final = ("exp_avg_sq", "max_exp_avg_sq", "square_avg")


def extended_optimizer(
    folder: Path, source: TensorSource, tables: Mapping[str, Resized]
) -> tuple[str, bytes, tuple[str, ...]]:
    """The name of the file, its new content, and sentences.

    A state belongs to a table by the names in `param_groups` (torch 2.6), or when the table's shape tells: as many
    states as tensors of the checkpoint have it, and all of these become longer in the same way. Everything else raises
    GnomonError, since a state given to another parameter would go unnoticed.
    """
    path = optimizer_file(folder)
    held = read_optimizer_state(path)
    learned = {table: made for table, made in tables.items() if made.moments}
    old = {table: source.info(table).shape for table in learned}
    owners = _by_name(held, learned) or _by_shape(held, source, learned)
    state = dict(held["state"])
    for key, table in owners.items():
        state[key] = {
            moment: _resized(moment, value, old[table], learned[table], table) for moment, value in state[key].items()
        }
    words = (
        f"{path.name}: the averages of gradients of {len(owners)} table(s) follow by the same sums, those of their "
        "squares by the same rows with the sizes of the weights as shares of 1; the count of steps stays.",
    )
    return path.name, optimizer_bytes({**held, "state": state}), words


def _by_name(held: Mapping[str, Any], tables: Mapping[str, Resized]) -> dict[Any, str]:
    """Which state is which table's, where the groups keep names or the states are filed under them."""
    names = {key: key for key in held["state"] if isinstance(key, str)}
    for group in held["param_groups"]:
        listed = group.get("param_names") if isinstance(group, dict) else None
        if isinstance(listed, list) and len(listed) == len(group.get("params", ())):
            names |= dict(zip(group["params"], listed, strict=True))
    found = {key: _table_named(str(name), tables) for key, name in names.items() if key in held["state"]}
    return {key: table for key, table in found.items() if table is not None}


def _table_named(name: str, tables: Mapping[str, Resized]) -> str | None:
    """The table of this name; a model inside another one has a prefix before it, on either side.

    One table under two names is the same under both; different ones that this could name raise GnomonError.
    """
    bare = name.removeprefix("module.")
    found = [table for table in tables if table == bare or table.endswith("." + bare) or bare.endswith("." + table)]
    if len({tables[table].shape for table in found}) > 1:
        raise GnomonError(f"The optimizer's {name!r} could be {' or '.join(sorted(found))}; start it anew.")
    return found[0] if found else None


def _by_shape(held: Mapping[str, Any], source: TensorSource, tables: Mapping[str, Resized]) -> dict[Any, str]:
    owners: dict[Any, str] = {}
    for table, made in tables.items():
        shape = source.info(table).shape
        states = [key for key, state in held["state"].items() if _has_shape(state, shape)]
        same = [info.name for info in source.infos() if info.shape == shape]
        alike = all(name in tables and tables[name].shape == made.shape for name in same)
        if not states or len(states) != len(same) or not alike:
            raise GnomonError(
                f"It is not certain which of the {len(held['state'])} states of the optimizer is that of {table!r}: "
                f"{len(states)} have its shape {shape}, and {len(same)} tensors do; save the optimizer with names "
                "(torch 2.6) or start it anew."
            )
        owners |= dict.fromkeys(states, table)
    return owners


def _has_shape(state: Mapping[str, Any], shape: tuple[int, ...]) -> bool:
    return any(isinstance(value, Tensor) and tuple(value.shape) == shape for value in state.values())


def _resized(moment: str, value: Any, shape: tuple[int, ...], made: Resized, table: str) -> Any:
    if not isinstance(value, Tensor) or value.numel() == 1:
        return value
    make = made.moments if moment in LINEAR else made.squares if moment in SQUARED else None
    if make is None or tuple(value.shape) != shape or not value.is_floating_point():
        raise GnomonError(
            f"The state {moment!r} of {table!r} is {tuple(value.shape)} of {value.dtype}; gnomon extends "
            f"{', '.join((*LINEAR, *SQUARED))} of the table's shape {shape}. Start the optimizer anew."
        )
    return make(value)
