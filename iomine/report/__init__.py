"""Makes pages for people from the views: HTML, pictures and JSON as bytes."""
