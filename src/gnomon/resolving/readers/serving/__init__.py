"""What serving stacks whose configs come through transformers' classes have in common."""
