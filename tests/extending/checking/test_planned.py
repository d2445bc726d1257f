import pytest

from gnomon.errors import GnomonError
from gnomon.extending.checking.planned import Available, Plan, Wanted, planned


def wanted(lengths: tuple[int, ...] | None = None, **more: int) -> Wanted:
    return Wanted(lengths, **{"last": 256, "windows": 4096, "passkeys": 5, "budget": 98_304, "seed": 0, **more})


def plan(
    asked: Wanted, kind: str = "causal", old: int | None = 8192, new: int | None = 16384, tokens: int = 10**6
) -> Plan:
    return planned(asked, Available(kind, old, new, tokens, 0))  # type: ignore[arg-type]


def test_a_short_length_the_old_and_the_new_come_before_one_between() -> None:
    found = plan(wanted())
    assert found.rows == {2048: 2, 8192: 1, 16384: 1}
    # Both models read the rows; both look for keys in 8,192 tokens, the extended one alone in 16,384.
    assert found.tokens == 2 * 4096 + 4 * 8192 + 3 * 16384
    [sentence] = found.left_out
    assert sentence.startswith("11585 tokens were not measured: with them 124867 tokens are read, the budget is 98304")


def test_a_new_length_that_is_too_dear_is_halved_until_it_fits() -> None:
    found = plan(wanted(), old=4096, new=131072)
    assert 16384 in found.rows
    assert 131072 not in found.rows
    assert found.tokens <= 98_304
    assert found.left_out[0].startswith("131072 tokens were not measured")


def test_no_plan_reads_more_than_the_budget() -> None:
    for budget in (20_000, 50_000, 200_000, 10**7):
        for old, new in ((512, 2048), (2048, 32768), (8192, 16384)):
            assert plan(wanted(budget=budget), old=old, new=new).tokens <= budget
    with pytest.raises(GnomonError, match=r"No length can be measured\. 2048 tokens were not measured"):
        plan(wanted(budget=100))


def test_a_text_that_is_too_short_for_a_length_is_said() -> None:
    found = plan(wanted(), tokens=9000)
    assert list(found.rows) == [2048, 8192]
    assert "16384 tokens were not measured: the text has 9000" in found.left_out[0]


def test_lengths_that_are_asked_for_are_all_measured_whatever_the_budget() -> None:
    found = plan(wanted((3000, 100, 3000), budget=1))
    assert (found.rows, found.left_out) == ({100: 40, 3000: 1}, ())


def test_lengths_that_are_asked_for_need_a_text_that_is_long_enough() -> None:
    with pytest.raises(GnomonError, match="The text has 90 tokens and rows of 100 need 100; give a longer text"):
        plan(wanted((100,)), tokens=90)
    with pytest.raises(GnomonError, match="rows of 100 need 200"):
        plan(wanted((100,)), kind="encoder", tokens=190)


def test_keys_are_asked_for_from_the_longest_measured_length_within_the_old_one_on() -> None:
    there = Available("causal", 8192, 16384, 10**6, 0)
    assert [there.keys_at(n, wanted((256, 1024, 9000))) for n in (256, 1024, 9000)] == [False, True, True]
    assert [there.keys_at(n, wanted()) for n in (2048, 8192, 16384)] == [False, True, True]
    assert not there.keys_at(16384, wanted(passkeys=0))
    assert not Available("masked", 512, 1024, 10**6, 2).keys_at(1024, wanted())


def test_without_stated_lengths_they_have_to_be_given() -> None:
    with pytest.raises(GnomonError, match="state no longest length; give the lengths"):
        plan(wanted(), new=None)


@pytest.mark.parametrize("more", [{"last": 0}, {"windows": 0}, {"passkeys": -1}, {"budget": 0}])
def test_numbers_that_make_no_sense_are_refused_by_name(more: dict[str, int]) -> None:
    with pytest.raises(GnomonError, match=f"{next(iter(more))} is a whole number"):
        wanted(None, **more)


@pytest.mark.parametrize("lengths", [(), (8,), (64, 0)])
def test_lengths_that_make_no_sense_are_refused(lengths: tuple[int, ...]) -> None:
    with pytest.raises(GnomonError, match="16 or more"):
        wanted(lengths)
