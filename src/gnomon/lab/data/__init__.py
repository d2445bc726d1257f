"""Data for tasks: text and labelled examples from packages, kept in a cache and checked."""

from gnomon.lab.data.corpus import Corpus, load_corpus

__all__ = ["Corpus", "load_corpus"]
