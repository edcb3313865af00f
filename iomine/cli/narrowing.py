"""The logs and nights that options select, and the message if there are none."""
# ruff: noqa: PLC0415

import datetime as dt
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from iomine.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What options leave of the history; None leaves all. Its fields are the parameters of the question `cli/narrowed_night`."""

    first_night: dt.date | None = None
    last_night: dt.date | None = None
    user: str | None = None
    app: str | None = None
    account: str | None = None
    cluster: str | None = None

    def parameters(self) -> dict[str, object]:
        """Values for questions that read `cli/narrowed_night` or `cli/narrowed_log`."""
        return asdict(self)

    def names(self) -> dict[str, str]:
        """What is named, by kind, in the order of the options."""
        named = {"user": self.user, "app": self.app, "account": self.account, "cluster": self.cluster}
        return {kind: name for kind, name in named.items() if name is not None}

    def of_whom(self) -> str:
        """What is named, in words: `user ann and program solver`; empty where nothing is."""
        return " and ".join(f"{_WORDS[kind]} {name}" for kind, name in self.names().items())

    def check(self, database: Path) -> None:
        """Makes sure that the warehouse knows what is named, and that the nights are in order.

        Raises:
            UsageError: it does not, or they are not.
        """
        from iomine.cli.terminal.questions import ask_own
        from iomine.views.questions import question

        if self.first_night and self.last_night and self.last_night < self.first_night:
            raise UsageError(f"--until {self.last_night} is before --since {self.first_night}: change one of them.")
        if not self.names():
            return
        known = ask_own(database, question("cli/names")).to_pylist()
        for kind, name in self.names().items():
            names = sorted((row["name"] for row in known if row["kind"] == kind and row["name"]), key=_order)
            if name not in names:
                hint = did_you_mean(name, names) or (f"the warehouse has {_some(names)}." if names else "the warehouse has none.")
                raise UsageError(f"There is no {_WORDS[kind]} {name}: {hint}")

    def why_empty(self, database: Path) -> str:
        """A sentence on why nothing is left: what is asked for has no logs at all, or none in these nights."""
        from iomine.cli.terminal.questions import ask_own
        from iomine.views.questions import question

        always = replace(self, first_night=None, last_night=None)
        (there,) = ask_own(database, question("cli/narrowed_nights"), always.parameters()).to_pylist()
        of_whom = self.of_whom()
        if there["first_night"] is None:
            return f"No log is of {of_whom} at once." if of_whom else "The warehouse has no logs: `iomine sweep PATH` reads some."
        since = f" from {self.first_night} on" if self.first_night else ""
        until = f" up to {self.last_night}" if self.last_night else ""
        return (
            f"No log{of_whom and f' of {of_whom}'} is of a night{since}{until}: "
            f"the existing ones are of {there['first_night']} to {there['last_night']}."
        )


_WORDS: Final = {"user": "user", "app": "program", "account": "account", "cluster": "cluster"}
_SHOWN: Final = 5


def _order(name: str) -> tuple[bool, str]:
    """Logins before uids."""
    return name.isdecimal(), name


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
