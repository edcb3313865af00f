"""The tables of the lake; every `Table` in a module of this package is one, found by walking."""
