"""`iomine link`."""

import re
import time

import pytest

from iomine.post.tokens import Pass, pass_signer_of

LOG = "abcd000000000001"
DAYS = 3


@pytest.fixture
def site(warehouse_of):
    """One that knows users, and has a log of ann's."""
    site = warehouse_of(log=[{"log_id": LOG, "user": "ann"}])
    (site / "access.toml").write_text(f"[links]\ndays = {DAYS}")
    (site / "digest.toml").write_text('site = "https://io.test/x"')
    return site


@pytest.mark.parametrize("days", [3, 9])
@pytest.mark.parametrize(("whose", "log_id"), [("ann", ""), (LOG, LOG)])
def test_link_is_signed(iomine, site, whose, log_id, days):
    """It says whose pages or which log, and when it ends; it lies below the site's address."""
    said = iomine("link", whose, *(() if days == DAYS else ("--days", days)), "--warehouse", site).stdout
    end = f"reports/{LOG}.html" if log_id else ""
    (token,) = re.fullmatch(rf"https://io\.test/x/by/([A-Za-z0-9._-]+)/{re.escape(end)}\n", said).groups()
    given = pass_signer_of(site / "access.key").given(token, time.time())
    assert Pass("ann", log_id, given.until) == given
    assert abs(given.until - time.time() - days * 86400) < 600


@pytest.mark.parametrize(("whose", "reported"), [("bob", "There is no log of 'bob' whose "), ("0" * 16, "There is no log '0000")])
def test_nothing_to_link_to_is_reported(iomine, site, whose, reported):
    """No key is made for it, either."""
    answer = iomine("link", whose, "--warehouse", site)
    assert (2, True) == (answer.exit_code, answer.stderr.startswith(reported))
    assert not (site / "access.key").exists()


def test_site_that_knows_nobody_needs_no_links(iomine, site):
    """Without the file everything is open, or nothing is served."""
    (site / "access.toml").unlink()
    answer = iomine("link", "ann", "--warehouse", site)
    assert (2, True) == (answer.exit_code, "without it the server knows nobody" in answer.stderr)
