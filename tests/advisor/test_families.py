"""Every family that gnomon knows gets advice that builds, or a sentence that says why not."""

import pytest

from gnomon import encodings
from gnomon.adapters.families import BY_MODEL_TYPE
from gnomon.advisor import advise
from gnomon.errors import GnomonError

WITHOUT = {"beit", "swin", "swinv2"}  #: biases of windows, which the name alone does not tell


@pytest.mark.parametrize("fine_tune", [True, False])
def test_every_family_is_answered(fine_tune: bool) -> None:
    refused = set()
    for name in BY_MODEL_TYPE:
        try:
            advice = advise(family=name, trained=64, target=96, fine_tune=fine_tune)
        except GnomonError:
            refused.add(name)
            continue
        assert advice.best.points, name
        for recommendation in advice.recommendations:
            encodings.build(recommendation.encoding, **recommendation.options)
    assert refused == WITHOUT
