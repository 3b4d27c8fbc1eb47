"""Rigorous decisions: enclosures over boxes, counterexamples, zeros of gradients, duality gaps."""
