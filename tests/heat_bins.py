"""Heat maps as tables have them, from what each of their bins holds."""


def heat_bins(**bins: list[int]) -> dict[str, list[int]]:
    """Columns of a row, from the bins of each direction, `read` and `write`; a direction that is left out has no bytes."""
    filled = {op: [(number, held) for number, held in enumerate(bins.get(op, [])) if held] for op in ("read", "write")}
    return {
        f"{op}_bin_{what}": [pair[place] for pair in pairs]
        for op, pairs in filled.items()
        for place, what in enumerate(("numbers", "amounts"))
    }
