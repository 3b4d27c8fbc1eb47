"""Planted: bounds for all draws that no plain draw violates."""
