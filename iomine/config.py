"""Where a site's settings are: `iomine.toml`, in the warehouse or for the whole host."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from iomine.errors import UsageError

CONFIG_FILE: Final = "iomine.toml"
# Names another file of that kind; the command's --config sets it.
CONFIG_VARIABLE: Final = "IOMINE_CONFIG"
HOST_CONFIG: Final = Path("/etc/iomine") / CONFIG_FILE

# TOML as text, or its tables.
Toml = str | dict[str, Any]


def config_of(warehouse: Path) -> Path | None:
    """The `iomine.toml` that speaks for a warehouse: that of the command or host where it names the warehouse, otherwise its own.

    Raises:
        UsageError: the file cannot be read.
    """
    named = named_config()
    # One folder has many paths: relative ones, and those with symbolic links in them.
    if named is not None and os.path.realpath(warehouse_of(named)) == os.path.realpath(warehouse):
        return named
    own = warehouse / CONFIG_FILE
    return own if own.exists() else None


def named_config() -> Path | None:
    """The `iomine.toml` of this command, or of this host; None where there is neither."""
    if said := os.environ.get(CONFIG_VARIABLE):
        return Path(said)
    return HOST_CONFIG if HOST_CONFIG.exists() else None


def warehouse_of(config: Path) -> Path:
    """The warehouse that an `iomine.toml` names: where it names none, the folder in which it lies.

    Raises:
        UsageError: the file cannot be read, its warehouse is no absolute path, or the file of the host names none.
    """
    named = read_config(config).get("warehouse", "")
    if named == "" and config == HOST_CONFIG:
        raise UsageError(f'{config} names no warehouse: write a line such as warehouse = "/data/iomine".')
    if named == "":
        return config.absolute().parent
    if not isinstance(named, str) or not named.startswith("/"):
        raise UsageError(f"{config}: warehouse must be an absolute path, such as /data/iomine, not {named!r}.")
    return Path(named)


def read_config(config: Path) -> dict[str, Any]:
    """The tables of an `iomine.toml`.

    Raises:
        UsageError: it cannot be read, or is not TOML.
    """
    try:
        return parse_toml(config.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{config} is not UTF-8 text: save the file as UTF-8.") from error
    except OSError as error:
        raise UsageError(f"The settings {config} cannot be read ({error.strerror}): name a file that can.") from error
    except UsageError as error:
        raise UsageError(f"{config}: {error.args[0]}") from error


def parse_toml(toml: Toml) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        UsageError: it is not TOML.
    """
    try:
        return tomllib.loads(toml) if isinstance(toml, str) else toml
    except ValueError as error:
        raise UsageError(f"This is not TOML: {error}.") from error
    except RecursionError as error:
        raise UsageError("This TOML is nested too deep: no setting is a list of lists of lists.") from error


def table_of(tables: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """What the tables of an `iomine.toml` say instead of the file of a name, such as `digest`; None where they say nothing.

    Raises:
        UsageError: the name stands for something else there.
    """
    table = _sources(tables) if name == "sources" else tables.get(name)
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{name} is a table: write its settings under a line [{name}].")
    return table


def _sources(tables: Mapping[str, Any]) -> dict[str, Any] | None:
    """What `sources.toml` would say: `iomine.toml` says it of each cluster."""
    given = tables.get("clusters")
    clusters = {name: table for name, table in given.items() if isinstance(table, dict)} if isinstance(given, dict) else {}
    said: dict[str, Any] = {
        key: found
        for key in ("time_zone", "most_processes")
        if (found := {name: table[key] for name, table in clusters.items() if key in table})
    }
    return (said | {key: tables[key] for key in ("collectors",) if key in tables}) or None
