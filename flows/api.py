"""Where Prefect has an API, sweeps run as flows; elsewhere they need no Prefect, whose import alone takes seconds."""

import os
import time
import tomllib
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Final

from iomine.errors import IomineError

_ANSWER_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.2


def api_url() -> str | None:
    """Address of Prefect's API: `PREFECT_API_URL`, or that of Prefect's active profile; None where neither names one.

    Prefect's own settings say it too, but importing them takes too long.
    https://docs.prefect.io/v3/develop/settings-and-profiles
    """
    if url := os.environ.get("PREFECT_API_URL"):
        return url
    home = Path(os.environ.get("PREFECT_HOME") or Path("~/.prefect").expanduser())
    profiles = {}
    # A file that Prefect cannot read either is for Prefect to complain about.
    with suppress(OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        profiles = tomllib.loads(Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml").read_text("utf-8"))
    active = profiles.get("profiles", {}).get(os.environ.get("PREFECT_PROFILE") or profiles.get("active"), {})
    return active.get("PREFECT_API_URL") or None


def prepare(url: str) -> None:
    """Sets what Prefect is to do here where the site has not, and waits until the API answers.

    Must be called before Prefect is imported, which reads the environment then.

    Args:
        url: the API's address.

    Raises:
        IomineError: it does not answer.
    """
    for name, value in {
        # No telemetry.
        "DO_NOT_TRACK": "1",
        # The command prints one sentence about a failure.
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        # Each request to a server that is gone is tried again, and again after twice as long: 14 s and not 62 s.
        "PREFECT_CLIENT_MAX_RETRIES": "3",
    }.items():
        os.environ.setdefault(name, value)
    give_up_at = time.monotonic() + _ANSWER_SECONDS
    while time.monotonic() < give_up_at:
        if answers(url):
            return
        time.sleep(POLL_SECONDS)
    raise IomineError(f"No Prefect API answers at {url}: start its server, or unset PREFECT_API_URL to sweep without one.")


def is_there() -> bool:
    """Whether Prefect's API answers, or none is named, so that Prefect has one of its own."""
    url = api_url()
    return url is None or answers(url)


def answers(url: str) -> bool:
    """Whether Prefect's API is there."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310  the site's own setting
            return True
    except (urllib.error.URLError, OSError, ValueError):
        return False
