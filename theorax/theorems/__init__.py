"""The language in which a theorem is stated, and the library of theorems."""
