"""One parser per kind of input; each turns files into Arrow tables or says why it cannot."""
