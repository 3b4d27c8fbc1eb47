"""Laws and events with margins that hold every neighbour."""
