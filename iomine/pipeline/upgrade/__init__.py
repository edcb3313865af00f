"""An older warehouse becomes one of today's: its logs are read again, or worked out from the rows that are kept of them."""
