"""M. E. Sander, P. Ablin and G. Peyré, "Do Residual Neural Networks discretize Neural Ordinary Differential Equations?", NeurIPS 2022, arXiv 2205.14612.

The abstract and the released code were read, the body was not: every statement is reconstructed and derived anew with
explicit constants.
"""
