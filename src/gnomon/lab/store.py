"""Finished runs on disk, one file each, so that none is done twice; and the checkpoints of those under way."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, final

from gnomon.errors import GnomonError
from gnomon.lab.machine import differences
from gnomon.plots.files import write_whole
from gnomon.report.lab.results import Result, Run

#: Today's checksum of a data set by name; None where it is not known.
Checksum = Callable[[str], str | None]


def _unknown(name: str) -> str | None:
    return None


@final
class Store:
    """`folder`/runs holds finished runs by key, `folder`/work their checkpoints until then. Made when needed.

    `today` holds the versions and the device that a stored result must come from (see `gnomon.lab.machine.DECISIVE`);
    `checksum` tells whether the data are still those that it was made from.
    """

    def __init__(self, folder: Path, today: Mapping[str, str], checksum: Checksum = _unknown) -> None:
        self.folder, self._today, self._checksum = folder, dict(today), checksum

    def find(self, run: Run) -> Result | None:
        """What is stored for this run, whenever it was made. Raises GnomonError for a file that no lab wrote."""
        path = self._file(run)
        try:
            result = Result.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GnomonError(f"The stored run {path} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise GnomonError(f"The file {path} is no stored run; move it away, or use another folder.") from error
        if result.run.key != run.key:
            raise GnomonError(f"The file {path} holds another run than its name says; move it away.")
        return result

    def outdated(self, result: Result) -> list[str]:
        """Why a stored result is not taken today, as words: versions, device and data that are others now."""
        data = [
            f"another {name}"
            for name, checksum in result.data.items()
            if (self._checksum(name) or checksum) != checksum
        ]
        return [*differences(result.environment, self._today), *data]

    def save(self, result: Result) -> None:
        """Write a finished run, whole or not at all; its checkpoints are then removed."""
        path = self._file(result.run)
        _make(path.parent)
        write_whole(path, (json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False) + "\n").encode())
        shutil.rmtree(self.work(result.run).parent, ignore_errors=True)
        with suppress(OSError):  # others are under way
            (self.folder / "work").rmdir()

    def work(self, run: Run) -> Path:
        """Where the checkpoints of a run belong; those of other versions or of another device are elsewhere."""
        return self.folder / "work" / run.key / ("-".join(self._today.values()) or "any")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folder, and keep others out of it: two that write the same checkpoints would spoil them.

        Raises GnomonError where results cannot be kept, and where another process works in the folder.
        """
        _make(self.folder / "runs")
        if os.name != "posix":
            yield
            return
        with _locked(self.folder):
            yield

    def _file(self, run: Run) -> Path:
        return self.folder / "runs" / f"{run.key}.json"


def shown_as(result: Result, run: Run) -> Result:
    """A stored result as that of `run`, which computes the same and may be shown elsewhere under another name."""
    measured = {variant or run.variant: series for variant, series in result.measured.items()}
    return replace(result, run=run, measured=measured)


def _locked(folder: Path) -> IO[str]:
    """A file whose lock the system lets go with the process, however that ends."""
    import fcntl

    try:
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise GnomonError(f"The folder {folder} cannot be written: {error.strerror}; choose another one.") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise GnomonError(f"Another process works in {folder}; wait for it, or choose another folder.") from None
    except OSError:  # a disk without locks
        return file
    return file


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GnomonError(f"The folder {folder} cannot be made: {error.strerror}; choose another one.") from error
