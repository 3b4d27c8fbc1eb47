"""Nguyen, Nguyen, Ho, Bertozzi, Baraniuk, Osher: A Primal-Dual Framework for Transformers and Neural Networks (ICLR 2023, arXiv 2406.13781).

Abstract and introduction were read, the body could not be: the construction is reconstructed and derived again here, and
no theorem of the paper is quoted by its number. The values of attention are outputs of the dual program, not inputs;
whatever is said of them holds for the values that the regression finds.
"""
