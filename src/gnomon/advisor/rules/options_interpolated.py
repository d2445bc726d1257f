"""The rows of a table that is resampled."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="options", source="arithmetic: one row for each position up to the target")
def options_interpolated(facts: Facts) -> Iterator[Effect]:
    """A resampled table has as many rows as the target has positions, and the rest as the checkpoint has it."""
    if facts.existing == "learned" and facts.target > facts.trained:
        yield Build("interpolate", {"dim": facts.dim, **facts.existing_options, "max_length": facts.target})
