"""Rules of a site, as a package that anybody can install."""
