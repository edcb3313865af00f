"""Digests that are killed, and digests that run at once: nobody misses one, and nobody gets one twice that was not in flight."""

import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from mail_server import Handler, mail_server

from iomine.post.settings import SmtpSettings

USERS = [f"u{number:03}" for number in range(200)]
SCRIPT = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from post_office import mail_to, office
from iomine.errors import IomineError
from iomine.post.transports import Pace, Smtp
from iomine.post.deliver import deliver
from iomine.post.ledger import Ledger, only_digest
from iomine.post.settings import SmtpSettings

root, port, users = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
try:
    with only_digest(root), Ledger(root / "digest.sqlite") as ledger:
        smtp = SmtpSettings(host="127.0.0.1", port=port, timeout_seconds=10)
        print(len(deliver(map(mail_to, users), office(ledger, Smtp(smtp, root, Pace(0)))).sent))
except IomineError as error:
    sys.exit(str(error))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    """Sends digests."""
    script = tmp_path_factory.mktemp("script") / "digest.py"
    script.write_text(SCRIPT)
    return script


def started(script: Path, root: Path, settings: SmtpSettings, users: list[str] = USERS) -> subprocess.Popen[str]:
    command = [sys.executable, str(script), str(root), str(settings.port), *users]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def states(root: Path) -> dict[str, str]:
    """State of each mail by its id, as the ledger has them on the disk."""
    if not (root / "digest.sqlite").exists():
        return {}
    # A transaction that was cut short is rolled back by whoever opens the ledger next, as the next digest would.
    con = sqlite3.connect(root / "digest.sqlite", timeout=10)
    try:
        return dict(con.execute("SELECT message_id, state FROM letter"))
    except sqlite3.OperationalError:
        # The tables are not there yet.
        return {}
    finally:
        con.close()


class Killer:
    """Kills a digest when the mail server has come to a stage for so many times; the server waits for its death."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self.stage, self.left, self.delay = "", 0, 0.0

    def aim(self, process: subprocess.Popen[str], stage: str, count: int, delay: float) -> None:
        """Chooses the moment."""
        with self._lock:
            self.process, self.stage, self.left, self.delay = process, stage, count, delay

    def plan(self, stage: str, _address: str) -> None:
        """Called at each stage of each mail."""
        with self._lock:
            if self.process is None or stage != self.stage:
                return
            self.left -= 1
            if self.left > 0:
                return
            victim, self.process = self.process, None
        if self.delay:
            # Meanwhile the reply goes out, and the digest goes on.
            threading.Timer(self.delay, victim.kill).start()
        else:
            victim.kill()
            victim.wait()


def test_twenty_kills(script, tmp_path):
    """Killed at twenty moments of all kinds, and then let run to its end, a digest has reached all 200 users.

    Nobody has got it twice except for those whose mail was in flight at a kill, which is one at the most at each of them, and
    what they got twice is the same mail. The moments: while mails come onto the books; at the sender's and the reader's
    name; when the server has all of the mail and not kept it; when it has kept it and not said so; and shortly after.
    """
    chance = random.Random(20261121)
    on_books = sorted(chance.sample(range(1, 190), 4))
    aims = ["mail", "rcpt", "data", "stored"] * 3 + ["after"] * 4
    chance.shuffle(aims)
    handler, killer = Handler(), Killer()
    handler.plan = killer.plan
    in_flight: Counter[str] = Counter()
    seen: list[Counter[str]] = []

    with mail_server(handler) as settings:
        for moment in [*on_books, *aims]:
            process = started(script, tmp_path, settings)
            if isinstance(moment, int):
                while len(states(tmp_path)) < moment and process.poll() is None:
                    time.sleep(0.001)
                process.kill()
            else:
                delay = chance.uniform(0.0005, 0.01) if moment == "after" else 0.0
                killer.aim(process, "stored" if moment == "after" else moment, chance.randint(2, 12), delay)
            process.communicate(timeout=30)
            assert -9 == process.returncode
            now = states(tmp_path)
            seen.append(Counter(now.values()))
            in_flight.update(name for name, state in now.items() if state == "sending")
            assert seen[-1]["sending"] <= 1
        sent_before = len(handler.mails)
        last = started(script, tmp_path, settings)
        reported, fault = last.communicate(timeout=60)

    assert (0, "") == (last.returncode, fault)
    got = Counter(mail.message_id for mail in handler.mails)
    assert len(handler.mails) - sent_before == int(reported) > 0
    assert {"sent"} == set(states(tmp_path).values())
    assert set(USERS) == {address.partition("@")[0] for address in handler.addresses()}
    assert len(USERS) == len(got)
    assert all(count - 1 <= in_flight[name] for name, count in got.items())
    # The kills have hit what they were aimed at: books that were not full, mails in flight, and mails that went twice.
    assert any(0 < counts.total() < len(USERS) for counts in seen)
    assert sum(counts["sending"] for counts in seen) >= 10
    assert max(got.values()) > 1
    contents = {(mail.message_id, mail.content) for mail in handler.mails}
    assert len(contents) == len(got)


def test_two_digests_at_once(script, tmp_path):
    """One sends everything, the other ends with a sentence and sends nothing; a third, later, has nothing to send."""
    few, handler, is_sending = USERS[:60], Handler(), threading.Event()
    handler.plan = lambda *_: is_sending.set()
    with mail_server(handler) as settings:
        first = started(script, tmp_path, settings, few)
        assert is_sending.wait(30)
        second = started(script, tmp_path, settings, few)
        _, fault = second.communicate(timeout=30)
        reported, _ = first.communicate(timeout=60)
        third, _ = started(script, tmp_path, settings, few).communicate(timeout=30)
    assert (1, f"Another digest is being sent from {tmp_path}: wait until it has ended.\n") == (second.returncode, fault)
    assert ("60", "0") == (reported.strip(), third.strip())
    assert few == sorted(address.partition("@")[0] for address in handler.addresses())
