"""Views in, letters out: what is worth telling to whom, and how it is said."""
