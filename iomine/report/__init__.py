"""Pages for people: views in, bytes out."""
