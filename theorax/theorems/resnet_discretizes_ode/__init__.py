"""Residual networks as discretizations of neural ODEs, Sander et al. 2022a.

The abstract and the released code were read, the body was not: every statement is reconstructed and derived anew with
explicit constants.
"""
