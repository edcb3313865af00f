"""Mails in, mail out: who is who, policy, links, the ledger and the transports."""
