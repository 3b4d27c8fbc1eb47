"""Steps as textbooks warn of them: divergent, one-sided, interchanged, extraneous."""
