"""Trained residual networks stay discretised ODEs, Marion et al. 2024.

The paper and its appendix were read. What is wrong in print is stated as printed, beside what holds.
"""
