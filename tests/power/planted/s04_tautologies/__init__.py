"""Letters that hold what the claim predicts, and draws that scatter less than was stated."""
