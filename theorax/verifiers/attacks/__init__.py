"""Attempts to break a claim: wrong variants of it, and subjects that break a hypothesis."""
