"""Values in tables of pages."""

from hypothesis import example, given
from hypothesis import strategies as st

from iomine.units import core_hours
from iomine.web.cells import shown


@given(hours=st.floats(1e-9, 1e9))
@example(hours=0.0219)
@example(hours=0.00114)
def test_a_cost_has_the_same_digits_in_a_table_as_in_a_sentence(hours: float) -> None:
    """A page's sentence, a table below it and a mail print a cost alike."""
    assert core_hours(3600 * hours).rpartition(" ")[0] == shown("cost_core_hours", 3600 * hours / 3600)


def test_shares_are_percents_and_other_ratios_are_factors() -> None:
    """A neighbour's share is written like all other shares of pages."""
    assert ("46%", "9.5%") == (shown("neighbour_ratio", 0.456), shown("io_ratio", 0.095))
    assert "9.5" == shown("server_slowdown_ratio", 9.5)
