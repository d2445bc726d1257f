"""What ExLlamaV2 and ExLlamaV3 make of the raw file."""
