"""llama.cpp in two halves: the converter makes metadata and lists of divisors, the runtime turns by them."""
