"""Letters in, mail out: who is who, manners, links, the ledger and the carriers."""
