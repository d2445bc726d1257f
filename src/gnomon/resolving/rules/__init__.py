"""What stacks have in common: keys with provenance, formulas, angles, and the choices along which they differ."""
