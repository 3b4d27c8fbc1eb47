"""Contents that the instances do not have: few networks, wide shares, entries far smaller than others."""
