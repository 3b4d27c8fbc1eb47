"""The language of theorems."""
