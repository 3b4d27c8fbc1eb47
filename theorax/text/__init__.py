"""Layout of a report as text; every floor may use it."""
