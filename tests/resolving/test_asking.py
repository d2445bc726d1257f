"""Names of stacks: other spellings, versions, all versions, and one sentence for a name that gnomon does not know."""

import pytest

from gnomon.errors import GnomonError
from gnomon.resolving.asking import asked, one, pair_name
from gnomon.resolving.stack import registry


def names(stacks: object) -> list[str]:
    return [pair_name(pair) for pair in asked(stacks)]  # type: ignore[arg-type]


def test_none_are_all_stacks_in_their_newest_versions() -> None:
    assert names(None) == [f"{name}@{kind.versions[0].name}" for name, kind in registry]


def test_other_names_versions_and_all_of_them_each_once() -> None:
    vllm = registry.get("vllm")
    assert names("transformers, VLLM") == ["hf5@5", f"vllm@{vllm.versions[0].name}"]
    every = [f"vllm@{version.name}" for version in vllm.versions]
    assert names(["vllm@all", "vllm", every[-1]]) == every
    assert len(every) > 1


@pytest.mark.parametrize(
    ("stacks", "sentence"),
    [
        ("vlm", r"No engine is called 'vlm'. Did you mean 'vllm'\? Known: .*hf5"),
        ("hf5@3", "has no version '3' in gnomon; there are 5"),
        (" , ", "No engine is named; there are"),
    ],
)
def test_an_unknown_name_ends_in_one_sentence_with_the_known_ones(stacks: str, sentence: str) -> None:
    with pytest.raises(GnomonError, match=sentence):
        asked(stacks)


def test_a_reference_is_one_stack_in_one_version() -> None:
    assert pair_name(one("transformers")) == "hf5@5"
    with pytest.raises(GnomonError, match="The reference is one engine in one version"):
        one("vllm@all")


def test_an_engine_that_is_one_version_of_a_stack_is_asked_for_by_its_own_name() -> None:
    assert [pair_name(pair) for pair in asked("TurboMind,lmdeploy")] == ["lmdeploy@turbomind", "lmdeploy@pytorch"]
