"""The run-time type checker of the tests: beartype, with two of its limits taken away."""

from typing import Self

from beartype import BeartypeConf, FrozenDict, beartype

# An int is also a float, as PEP 484 says. And jaxtyping decorates methods one by one, where beartype cannot read Self.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True, hint_overrides=FrozenDict({Self: object})))
