"""The answer to every case, worked out once."""

import json
from collections.abc import Mapping

import pytest

from gnomon.advisor import advise
from gnomon.report.advice.document import Advice
from tests.advisor.cases import ARTICLE, CHECKPOINTS, FROM_SCRATCH


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Advice]:
    """The advice for each case by its name; configs are written to files first."""
    found = {case.name: advise(**case.given) for case in (*ARTICLE, *FROM_SCRATCH)}
    for config, case in CHECKPOINTS:
        path = tmp_path_factory.mktemp("checkpoint") / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        found[case.name] = advise(checkpoint=path, **case.given)
    return found
