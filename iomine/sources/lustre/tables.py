"""Columns as tables of the schema: types, missing values, and the night."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.schema.registry import arrow_schema
from iomine.sources.lustre.lines import numbers
from iomine.sources.lustre.parameters import Parameter

COUNTER: Final = "lustre_counter"
HISTOGRAM: Final = "lustre_histogram"
FULLNESS: Final = "target_fullness"

# A counter is unsigned; how often it counted is kept in a signed number.
LIMITS: Final = {"samples": 2**63 - 1} | dict.fromkeys(("least", "most", "amount", "squares"), 2**64 - 1)

_SCALES: Final = {b"": 1} | {unit.encode(): 1024 ** (power + 1) for power, unit in enumerate("KMGTPE")}
# Sums are kept in floats: what differs by less is equal.
_ROUNDING: Final = 1e-9


def table_of(name: str, columns: Mapping[str, Any]) -> pa.Table:
    """A table in the schema's columns, NULL in those that are not given, with the night of `sampled_at` as last."""
    schema = arrow_schema(name)
    rows = len(columns["sampled_at"])
    arrays = [columns[entry.name] if entry.name in columns else pa.nulls(rows, entry.type) for entry in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    return table.append_column(pa.field("night", pa.date32()), columns["sampled_at"].cast(pa.date32()))


def counted(words: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of counters whose numbers were matched by groups of these names."""
    amount = numbers(words["amount"], pa.float64())
    return {
        "counter": labels(words["counter"]),
        "counter_unit": labels(words["unit"]),
        "sample_count": numbers(words["samples"], pa.int64()),
        "amount": amount,
        "least_amount": numbers(words["least"], pa.float64()),
        "most_amount": numbers(words["most"], pa.float64()),
        "squares_amount": _unwrapped(*(numbers(words[name], pa.float64()) for name in ("samples", "amount", "squares"))),
    }


def _unwrapped(samples: Any, amount: Any, squares: Any) -> Any:  # noqa: ANN401
    """NULL for sums of squares that have wrapped: none is below the square of the sum over the count."""
    least = pc.divide(pc.multiply(amount, amount), samples)
    is_sound = pc.greater_equal(squares, pc.multiply(least, 1 - _ROUNDING))
    return pc.if_else(is_sound, squares, pa.scalar(None, pa.float64()))


def about(parameters: Sequence[Parameter], part: npt.NDArray[np.int32]) -> dict[str, Any]:
    """The columns that rows have of the parameters that they were read from.

    Args:
        parameters: the parameters of a text.
        part: for each row the number of its parameter.
    """
    columns = ("source_kind", "target", "target_kind", "scope")
    named = {name: label(getattr(entry, name) for entry in parameters).take(part) for name in columns}
    return named | {"owner": pa.array([entry.owner for entry in parameters], pa.string()).take(part)}


def label(texts: Iterable[str]) -> Any:  # noqa: ANN401
    """Texts as labels."""
    return pa.array(texts, pa.string()).dictionary_encode()


def labels(words: Any, meaning: Callable[[bytes], str] = bytes.decode) -> Any:  # noqa: ANN401
    """Bytes as labels: each that is different is made a text once.

    Args:
        words: an array of bytes.
        meaning: makes a text of bytes.
    """
    encoded = words.dictionary_encode()
    texts = pa.array([meaning(word) for word in encoded.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(encoded.indices, texts)


def buckets(words: Any, scales: Any) -> Any:  # noqa: ANN401
    """Numbers of buckets: digits, and the power of 1024 that the unit after them stands for."""
    encoded = scales.dictionary_encode()
    powers = np.array([_SCALES[scale] for scale in encoded.dictionary.to_pylist()], np.float64)
    return pc.multiply(numbers(words, pa.float64()), powers[encoded.indices.to_numpy()])
