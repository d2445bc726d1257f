"""What models that ship in libraries really do wrong: each of these findings is true, and must be made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A finding with this code on each of these models, and why it is true."""

    code: str
    why: str
    models: tuple[str, ...]


#: at error level: live faults of transformers 5.24. Seen by hand too: ViTMAE's, Falcon's two, LayoutLMv3's and
#: MiniMax's reorder_cache; the others by numbers alone
FAULTS = (
    Known(
        "PE206",
        "the fixed tables of sinusoids stay zero when the model is built from a config",
        ("ViTMAEModel", "ViTMAEForPreTraining"),
    ),
    *(
        Known(code, "padding_idx=0 on the position table: position 0 is zero and never trains", ("LxmertModel",))
        for code in ("PE206", "PE217", "PE501")
    ),
    Known("PE320", "output_attentions=True drops the causal mask", ("FalconForCausalLM", "falcon")),
    Known("PE320", "output_attentions=True adds ALiBi twice", ("falcon, alibi",)),
    Known("PE503", "the relative biases are read under no_grad, so they never train", ("LayoutLMv3Model",)),
    Known("PE405", "layers of linear attention do not heed a mask (B, 1, S, S)", ("MiniMaxForCausalLM",)),
    Known("PE408", "reorder_cache leaves the states of linear attention in their rows", ("MiniMaxForCausalLM",)),
    Known("PE410", "the sinusoids grow with the tokens of one call, not with those before it", ("Speech2TextModel",)),
)

#: below error level
WARNINGS = (
    Known(
        "PE401",
        "a bare forward counts padding (huggingface/transformers#21080)",
        (
            *("GPT2LMHeadModel", "GPTBigCodeForCausalLM", "OpenAIGPTLMHeadModel", "GPTNeoForCausalLM", "gpt-2"),
            *("BioGptForCausalLM", "XGLMForCausalLM", "CTRLLMHeadModel", "CLIPTextModel", "CLIPModel"),
            *("WhisperModel", "WhisperForConditionalGeneration"),
        ),
    ),
    Known("PE324", "ids below 0 read the table of sinusoids from its end", ("CTRLLMHeadModel",)),
    Known(
        "PE402",
        "a convolution, a pooling or an average of neighbours sees padded places, whatever the mask says",
        ("ConvBertModel", "NystromformerModel", "YosoModel", "CanineModel", "FunnelModel"),
    ),
    Known(
        "PE403",
        "decoding step by step counts padding that one pass does not count",
        ("M2M100Model", "NllbMoeModel", "Speech2TextModel"),
    ),
    Known(
        "PE323",
        "max_position_embeddings counts the rows that are reserved, so fewer tokens fit",
        ("XmodModel", "LukeModel", "LiltModel", "ProphetNetModel", "LayoutLMv3Model"),
    ),
    Known(
        "PE612", "the bias is copied for every row of the batch", ("ProphetNetModel", "MPNetModel", "LayoutLMv3Model")
    ),
    *(
        Known(code, "the table takes part only when images are given", ("LayoutLMv3Model", "VisualBertModel"))
        for code in ("PE501", "PE504")
    ),
    Known("PE409", "cached keys keep the base of a shorter text (huggingface/transformers#25104)", ("llama, dynamic",)),
    Known("PE409", "cached keys keep the short factors (huggingface/transformers#33129)", ("phi3, longrope",)),
    Known("PE302", "nothing tells the order of vectors: right for a set, as ordered=False says", ("set transformer",)),
    Known("PE610", "the kept bias is a buffer as large as the last input was long", ("x-transformers, alibi",)),
)


def codes(known: tuple[Known, ...], model: str) -> set[str]:
    """The codes that a model is known to fail."""
    return {found.code for found in known if model in found.models}
