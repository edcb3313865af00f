"""Settings of `views.toml`: numbers that views and comparisons use, and that belong to no trigger."""

from typing import ClassVar, Final

from iomine.lake import Warehouse
from iomine.settings import Amount, Count, SiteSettings, read_site_file, setting

VIEWS_FILE: Final = "views.toml"


class ViewSettings(SiteSettings):
    """Numbers by name; a setting of a view is the variable of that name in its SQL, with the same default there."""

    whose: ClassVar[str] = "view"
    regression_run_count: Count = setting(
        8, "Runs of a lineage from which on regressions are looked for: with fewer, a change may be chance."
    )
    regression_side_run_count: Count = setting(3, "Runs on each side of a step, at least: a median of two is their mean.")
    regression_chance_ratio: Amount = setting(
        0.1, "Share of lineages without a step that may show one by chance; most of these steps are too small to be listed."
    )
    regression_deviations: Amount = setting(
        3.0, "Standard deviations that are usual: a normal distribution passes three in one run of 700."
    )
    regression_times: Amount = setting(1.5, "Multiple of the median that still is usual, where runs hardly differ.")
    regression_usual_run_count: Count = setting(
        5, "Runs from which on a single slow run is listed: a median of fewer says little of one."
    )
    shared_link_utilisation_ratio: Amount = setting(
        0.5, "Utilisation of a link from which on storage and other traffic there are listed as in each other's way."
    )
    shared_link_least_ratio: Amount = setting(
        0.25,
        "Least share of a link's bytes that storage and other traffic must each have then: with less, one hardly disturbs "
        "the other.",
    )
    compare_same_ratio: Amount = setting(
        0.1, "Relative change up to which `iomine compare` takes nights for the same: no two are alike."
    )


def site_views(warehouse: Warehouse) -> ViewSettings:
    """The settings in `views.toml` of the warehouse, and the defaults of others.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    return read_site_file(warehouse.root / VIEWS_FILE, "settings", ViewSettings.parse)
