"""SOUNDNESS S3: identities that hold near the data, on one domain of two, or for the inputs held fixed."""
