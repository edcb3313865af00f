"""Parsers, one for each kind of input, that turn files into Arrow tables or say why they cannot."""
