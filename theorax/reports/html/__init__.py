"""The audit report: one HTML file that opens from disk, without network and without JavaScript."""
