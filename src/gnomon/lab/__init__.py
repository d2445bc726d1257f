"""Small, honest, repeatable experiments that compare position encodings."""
