"""Statements that hold under a condition, and green ones that have no control and keep their word."""
