"""Every word of the project: a column's name, kind and one sentence, each defined once.

A kind fixes the Arrow type and the unit, and the unit stands in the name (`read_bytes`, `meta_seconds`). Tables list
names only; the Arrow schemas, the types that views must return and the data dictionary are computed from here, and
so is what an anonymised export makes of a column. Each module holds the words of one subject.
"""

from iomine.schema.fields.kinds import Field, Kind, Privacy

__all__ = ["Field", "Kind", "Privacy"]
