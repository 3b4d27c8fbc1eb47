"""What a check draws: lines, their observations, and expressions on them."""
