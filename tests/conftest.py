"""Shapes and dtypes in annotations are checked at run time in every test, in the packages that compute with tensors."""

from collections.abc import Iterator

import hypothesis
import jaxtyping
import pytest

import tests.helpers.typechecker

NUMERIC = ["gnomon.positions", "gnomon.encodings", "gnomon.kernels", "gnomon.attention", "gnomon.models"]

# Before anything of gnomon is imported, or those modules stay unchecked.
jaxtyping.install_import_hook(NUMERIC, f"{tests.helpers.typechecker.__name__}.checked")


# The same examples at each run, with no clock and no folder of past failures: a test fails or it does not.
hypothesis.settings.register_profile("gnomon", deadline=None, derandomize=True, database=None, max_examples=50)
hypothesis.settings.load_profile("gnomon")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Annotations are not checked in this test: what a user without a checker sees of our own errors."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture(autouse=True)
def fresh_compiler(request: pytest.FixtureRequest) -> None:
    """A test that compiles starts with an empty compiler: what it counts does not depend on the tests before it."""
    if "traces_into_one_graph" in request.node.name:
        import torch._dynamo

        torch._dynamo.reset()
