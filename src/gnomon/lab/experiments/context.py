"""What an experiment is given by whoever runs it: a seed, a place for checkpoints, devices, and someone to tell."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

import torch

from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from accelerate import Accelerator

Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    pass


@final
class Context:
    """`folder` keeps checkpoints (None: none are kept); `progress` is called with (steps done, steps in all).

    `device` is "cpu", or None for what accelerate finds.
    """

    def __init__(
        self, seed: int, *, folder: Path | None = None, device: str | None = "cpu", progress: Progress = _silent
    ) -> None:
        self.seed, self.folder, self.progress, self.device = seed, folder, progress, device

    def generator(self, *use: str | int) -> torch.Generator:
        """A generator on the CPU that depends on the seed and on what it is for, and on nothing else.

        >>> a, b = (Context(0).generator("step", 3) for _ in range(2))
        >>> bool((torch.rand(4, generator=a) == torch.rand(4, generator=b)).all())
        True
        """
        words = "/".join(str(part) for part in (self.seed, *use))
        number = int.from_bytes(hashlib.sha256(words.encode()).digest()[:7], "big")
        return torch.Generator("cpu").manual_seed(number)

    def part(self, name: str, before: int, total: int) -> "Context":
        """The same seed for one of several trainings of a run: a folder of its own for checkpoints, and one progress.

        `before` steps of `total` were done before it.
        """

        def progress(done: int, _: int) -> None:
            self.progress(before + done, total)

        folder = None if self.folder is None else self.folder / name
        return Context(self.seed, folder=folder, device=self.device, progress=progress)

    def accelerator(self, precision: str = "no") -> "Accelerator":
        """One process, or all those that `torchrun` or `accelerate launch` started."""
        try:
            from accelerate import Accelerator
            from accelerate.state import AcceleratorState
        except ImportError as error:
            raise GnomonError("The lab trains with accelerate; install it with `pip install 'gnomon[lab]'`.") from error
        AcceleratorState._reset_state()  # accelerate keeps the precision of the first run of a process otherwise
        try:
            return Accelerator(cpu=self.device == "cpu", mixed_precision=precision)
        except ValueError as error:
            raise GnomonError(f"Training in {precision} is not possible here: {error} Choose another.") from error
