"""ONNX graphs: their tensors, and a module that runs them."""
