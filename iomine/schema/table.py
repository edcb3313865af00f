"""What a table of the lake is."""

from dataclasses import dataclass

# Delta keeps these out of the files and in the folder names, so a query for one night opens no other night's files.
PARTITION_KEYS = ("cluster", "night")


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the lake.

    Attributes:
        name: the table's name, singular: one row is one of these.
        about: one sentence for the data dictionary.
        columns: names of fields, partition keys left out.
        partitioned: by cluster and night; tables about the sweeps themselves are not.
        grain: the columns that identify a row, empty where rows may be equal.
        for_people: people ask for the table as it is, under its own name.
    """

    name: str
    about: str
    columns: tuple[str, ...]
    partitioned: bool = True
    grain: tuple[str, ...] = ()
    for_people: bool = False

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Columns that live in folder names instead of in the files."""
        return PARTITION_KEYS if self.partitioned else ()
