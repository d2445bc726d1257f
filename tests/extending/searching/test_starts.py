import math

import pytest

from gnomon.extending.searching.starts import methods


def test_the_methods_are_lists_of_divisors_by_their_formulas() -> None:
    base, dim, original, scale = 10000.0, 16, 2048, 4.0
    by_name = {method.name: method for method in methods(base, dim, original, scale)}
    assert list(by_name) == ["unscaled", "linear", "ntk", "yarn"]
    for i in range(dim // 2):
        assert by_name["unscaled"].divisors[i] == 1.0
        assert by_name["linear"].divisors[i] == pytest.approx(4.0)
        assert by_name["ntk"].divisors[i] == pytest.approx(4.0 ** (2 * i / (dim - 2)))
        ends = [dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (32, 1)]
        low, high = math.floor(ends[0]), math.ceil(ends[1])
        share = min(max((i - low) / (high - low), 0.0), 1.0)
        assert by_name["yarn"].divisors[i] == pytest.approx(1 / (share / 4 + 1 - share))
    assert by_name["yarn"].attention_factor == pytest.approx(0.1 * math.log(4) + 1)
    assert {by_name[name].attention_factor for name in ("unscaled", "linear", "ntk")} == {1.0}
