"""Claims as tests of pytest: those of the library, and those of a user's own test."""
