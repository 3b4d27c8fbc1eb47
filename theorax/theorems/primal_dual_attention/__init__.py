"""Attention as the dual of a support vector regression, Nguyen et al. 2023.

Abstract and introduction were read, the body could not be: the construction is reconstructed and derived again here, and
no theorem of the paper is quoted by its number. The values of attention are outputs of the dual program, not inputs;
whatever is said of them holds for the values that the regression finds.
"""
