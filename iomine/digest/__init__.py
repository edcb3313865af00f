"""Views in, mails out: what is worth telling to whom, and how it is said."""
