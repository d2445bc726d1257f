"""What is traced: models as functions of named tensors."""
