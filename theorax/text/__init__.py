"""How a report is laid out as text, before anyone says of what: what every floor may use."""
