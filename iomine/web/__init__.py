"""The facility's pages: views in, HTML out; served, or written as files for any web server."""
