"""By how much each token turns: its own cosines and sines, or a table of them and the position that picks a row."""

from typing import NamedTuple, Self, final

from jaxtyping import Float, Int64
from torch import Tensor

from gnomon.errors import PositionError
from gnomon.kernels.rotation import Layout


@final
class Turn(NamedTuple):
    """The angles of a rotation, and which columns make a pair.

    Without `positions`, `cos` and `sin` are (1 or B, S, P), a row for each token. With `positions`, (1 or B, S), they
    are tables (T, P), and a token takes the row of its position. `sign` -1 turns the other way.
    """

    cos: Float[Tensor, "*rows P"]
    sin: Float[Tensor, "*rows P"]
    positions: Int64[Tensor, "#B S"] | None
    layout: Layout
    sign: float = 1.0

    @classmethod
    def of(cls, tensors: tuple[Tensor, ...], layout: Layout, sign: float) -> Self:
        """From what `tensors_of` gives."""
        cos, sin, *positions = tensors
        return cls(cos, sin, positions[0] if positions else None, layout, sign)

    def width(self) -> int:
        """How many columns turn: two for each pair."""
        return 2 * int(self.cos.shape[-1])


# Functions rather than methods where a compiler traces them: it cannot look into those of an object made in the graph.


def tensors_of(turn: Turn) -> tuple[Tensor, ...]:
    """cos, sin and, if there are any, positions."""
    return (turn.cos, turn.sin) if turn.positions is None else (turn.cos, turn.sin, turn.positions)


def rows_of(turn: Turn) -> tuple[Float[Tensor, "#B 1 S P"], Float[Tensor, "#B 1 S P"]]:
    """Cosine and sine of each token, the sine times the sign. Raises PositionError outside the table."""
    if turn.positions is None:
        cos, sin = turn.cos.unsqueeze(1), turn.sin.unsqueeze(1)
    else:
        cos, sin = picked((turn.cos, turn.sin), turn.positions)
    return cos, sin if turn.sign == 1 else -sin


def picked(
    tables: tuple[Float[Tensor, "T P"], ...], positions: Int64[Tensor, "#B S"]
) -> tuple[Float[Tensor, "#B 1 S P"], ...]:
    """The row of each position: (T, P), (B, S) -> (B, 1, S, P). Outside: PositionError on the CPU, else torch's error.

    >>> import torch
    >>> picked((torch.tensor([[1.0], [0.5]]),), torch.tensor([[1, 0]]))[0].tolist()
    [[[[0.5], [1.0]]]]
    """
    shape = (positions.shape[0], 1, positions.shape[1], tables[0].shape[1])
    index = positions.reshape(-1)
    try:
        return tuple([table.index_select(0, index).view(shape) for table in tables])
    except (IndexError, RuntimeError):
        require_inside(positions, tables[0].shape[0])
        raise


def require_inside(positions: Int64[Tensor, "#B S"], end: int) -> None:
    """Raise PositionError, which names the first position outside, unless all are rows 0 .. end - 1 of the table."""
    outside = positions[(positions < 0) | (positions >= end)]
    if outside.numel():
        raise outside_table(int(outside[0]), end)


def outside_table(position: int, end: int) -> PositionError:
    """The error for a position that a table has no row for."""
    return PositionError(
        f"Position {position} is outside the tables cos and sin: they have rows 0 to {end - 1}; make them longer."
    )
