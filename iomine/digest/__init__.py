"""Views in, mails out: which findings are mailed to whom, and in which words."""
