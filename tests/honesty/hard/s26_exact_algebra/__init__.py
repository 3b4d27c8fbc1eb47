"""SOUNDNESS S26: true and hard statements of linear algebra, with equality inside a box, in mixed precision."""
