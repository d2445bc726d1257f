"""One run of a suite, found by its key and done anew in this process."""

from gnomon.errors import GnomonError
from gnomon.lab.suites.base import Size, Suite
from gnomon.report.lab.results import Run


def run_of(suite: Suite, size: Size, seed: int, key: str) -> Run:
    """The run of this key. Raises GnomonError with the groups and variants there are when the suite has no such run.

    A report names the key, the seed and the size of each of its runs; other versions of gnomon may have other runs.
    """
    runs = suite.runs(size, [seed])
    found = next((run for run in runs if run.key == key), None)
    if found is None:
        known = "; ".join(f"{run.key} {run.group}, {run.variant}" for run in runs)
        raise GnomonError(
            f"The {size} form of {suite.name} has no run {key!r} with seed {seed}; give a key, --quick and --seed as a "
            f"report has them. Known: {known}."
        )
    return found
