"""Python values as DuckDB's SQL text."""

import datetime as dt
from itertools import groupby


def quoted(text: str) -> str:
    """A text literal."""
    return "'" + text.replace("'", "''") + "'"


def name_of(*parts: str) -> str:
    """An identifier, of several parts where it stands in a schema."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def literal(value: object) -> str:
    """A value as SQL, in visible characters only.

    Raises:
        TypeError: no value of that kind is known.
    """
    match value:
        case None:
            return "NULL"
        case bool() | int():
            return str(value).upper()
        case float():
            return f"{value!r}::DOUBLE"
        case dt.datetime():
            return f"TIMESTAMPTZ {quoted(value.isoformat(sep=' '))}"
        case dt.date():
            return f"DATE {quoted(value.isoformat())}"
        case str():
            runs = (("".join(run), can_be_seen) for can_be_seen, run in groupby(value, str.isprintable))
            parts = (
                quoted(run) if can_be_seen else " || ".join(f"chr({ord(sign)})" for sign in run) for run, can_be_seen in runs
            )
            text = " || ".join(parts)
            return f"({text})" if " || " in text else text or "''"
    raise TypeError(f"How {type(value).__name__} is written in SQL is not known: add it to iomine/sqltext.py.")
