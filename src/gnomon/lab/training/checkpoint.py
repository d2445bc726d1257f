"""What a killed run goes on from: one file, written whole or not at all."""

import io
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, final

import torch
from torch import nn

from gnomon.errors import GnomonError
from gnomon.lab.training.history import History
from gnomon.plots.files import write_whole

NAME = "checkpoint.pt"


@final
class Checkpoint:
    """Weights, optimizer, schedule and history in `folder`; with no folder nothing is kept."""

    def __init__(self, folder: Path | None, model: nn.Module, optimizer: Any, schedule: Any) -> None:
        self._path = None if folder is None else folder / NAME
        self._parts = {"model": model, "optimizer": optimizer, "schedule": schedule}

    def save(self, history: History) -> None:
        if self._path is None:
            return
        buffer = io.BytesIO()
        states = {name: part.state_dict() for name, part in self._parts.items()}
        torch.save({**states, "history": dict(history.__dict__)}, buffer)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, buffer.getvalue())

    def restored(self, device: torch.device) -> History:
        """Load what was saved, if anything was: an empty history begins from the start."""
        if self._path is None or not self._path.is_file():
            return History()
        try:
            stored = torch.load(self._path, map_location=device, weights_only=True)
            for name, part in self._parts.items():
                part.load_state_dict(stored[name])
            return History(**stored["history"])
        except (RuntimeError, KeyError, TypeError, ValueError, EOFError, UnpicklingError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise GnomonError(f"The checkpoint {self._path} does not fit this run ({reason}); remove it.") from error
