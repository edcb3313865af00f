"""Arrow's types as DuckDB names them."""

import pyarrow as pa

_SCALARS = {
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "BLOB",
    pa.date32(): "DATE",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP WITH TIME ZONE",
}


def duckdb_type(kind: pa.DataType) -> str:
    """DuckDB's name for an Arrow type.

    Raises:
        TypeError: no field has such a type.
    """
    if pa.types.is_dictionary(kind):
        # Arrow encodes values this way to save space; a query sees the values only.
        return duckdb_type(kind.value_type)
    if pa.types.is_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    if kind not in _SCALARS:
        raise TypeError(f"DuckDB's name for Arrow's {kind} is not known: add it to iomine/sqltypes.py.")
    return _SCALARS[kind]
