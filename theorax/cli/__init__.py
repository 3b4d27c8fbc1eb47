"""The command `verify`."""
