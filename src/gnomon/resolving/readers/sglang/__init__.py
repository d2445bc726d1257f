"""SGLang: how each kind of scaling is computed, and how long a server may be."""
