"""onnxruntime-genai: what its model builder bakes into the cos and sin tables of an ONNX graph."""
