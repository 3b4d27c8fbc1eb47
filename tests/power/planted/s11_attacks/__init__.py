"""Stand-ins read off another letter of the same draw."""
