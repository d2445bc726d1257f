"""Two texts that are decoded in turn through one module, each with a memory of its own."""

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import Model
from gnomon.doctor.evidence.decoding import Way
from gnomon.doctor.evidence.noise import difference

PROMPTS, NEW = (2, 5), 2  # tokens of each text


def effect_of_turns(probe: Model, way: Way) -> float | None:
    """How far two texts decoded in turn differ from one pass over each; None where it cannot be tried.

    A module that keeps the memory itself holds one text at a time, and none that takes this few tokens can be asked.
    """
    if way.kept or probe.length(PROMPTS[1] + NEW) < PROMPTS[1] + NEW:
        return None
    texts = [probe.draw(1, prompt + NEW, seed=91 + prompt) for prompt in PROMPTS]
    effect = 0.0
    try:
        expected = [probe(text) for text in texts]
        sessions = [way.open(probe, 1) for _ in texts]
        for turn in range(NEW + 1):
            for text, session, prompt, right in zip(texts, sessions, PROMPTS, expected, strict=True):
                new = slice(prompt + turn - 1, prompt + turn) if turn else slice(0, prompt)
                effect = max(effect, difference(right[:, new], session.feed(text[:, new])))
    except MissingEvidence:
        return None
    return effect
