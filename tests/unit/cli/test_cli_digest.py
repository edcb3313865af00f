"""`iomine digest` as it is typed."""

import json
from pathlib import Path

import pytest
from facility import FIRST, Facility

SETTINGS = 'least_core_hours = 0.0\n[directory]\ntemplate = "{user}@site.test"\n'


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Facility(tmp_path_factory.mktemp("facility")).root
    (root / "digest.toml").write_text(SETTINGS)
    return root


@pytest.mark.proof
def test_preview_shows_what_became_of_mails(iomine, facility: Path, tmp_path: Path):
    """It says how many were written and to whom, on stderr whose address nobody knows, and ends with 3 for these."""
    answer = iomine("digest", "--warehouse", facility, "--outbox", tmp_path, "--dry-run", "--since", FIRST.isoformat())
    assert 3 == answer.exit_code
    assert answer.stdout.startswith("2 written, 7 without an address, up to the night of 2024-04-12\n  written to user ")
    assert "no address is known" in answer.stderr
    assert 2 == len(list(tmp_path.glob("*.eml")))


def test_summary_can_be_read_by_programs(iomine, facility: Path, tmp_path: Path):
    """With --json the summary is one object; one user whose mail is written is success."""
    answer = iomine(
        "digest",
        "--warehouse",
        facility,
        "--outbox",
        tmp_path,
        "--dry-run",
        "--since",
        FIRST.isoformat(),
        "--user",
        "ada",
        "--json",
    )
    reported = json.loads(answer.stdout)
    assert (0, ["user ada"], "2024-04-12") == (answer.exit_code, reported["sent"], reported["last_night"])


def test_an_unknown_recipient_is_misuse(iomine, facility: Path, tmp_path: Path):
    """A name that the warehouse does not know is a sentence, not a digest of no mails."""
    for option, name, kind in (("--user", "adda", "user"), ("--project", "fys", "account")):
        answer = iomine("digest", "--warehouse", facility, "--outbox", tmp_path, "--dry-run", option, name)
        assert (2, True) == (answer.exit_code, answer.stderr.startswith(f"There is no {kind} {name}: "))
    assert [] == list(tmp_path.iterdir())


def test_a_warehouse_without_logs_has_nobody_to_write_to(iomine, warehouse: Path, tmp_path: Path):
    """Nothing was swept, nobody is written to, and that is no failure."""
    answer = iomine("digest", "--warehouse", warehouse, "--outbox", tmp_path / "out")
    assert (0, "0 written; there are no logs yet\n") == (answer.exit_code, answer.stdout)


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ((), "Mails have no destination: give --outbox DIR or --smtp HOST:PORT, or set smtp.host in digest.toml."),
        (("--smtp", "mail"), "--smtp mail is not HOST:PORT: write it as mail.site.org:25."),
        (("--smtp", ":25"), "--smtp :25 is not HOST:PORT: write it as mail.site.org:25."),
        (("--smtp", "mail:0"), "--smtp mail:0 is not HOST:PORT: write it as mail.site.org:25."),
        (("--user", "ada", "--operator"), "--user, --project and --operator select different recipients: give one of them."),
        (("--dry-run",), "A dry run writes mails to a folder: name it with --outbox."),
    ],
)
def test_misuse_is_reported_in_a_sentence(iomine, warehouse: Path, arguments: tuple[str, ...], reported: str):
    """What is missing or contradicts itself is one sentence, and exit status 2."""
    answer = iomine("digest", "--warehouse", warehouse, *arguments)
    assert (2, f"{reported}\n") == (answer.exit_code, answer.stderr)


def test_a_mail_that_asks_for_nothing_is_refused_with_a_reason(iomine, facility: Path, tmp_path: Path):
    """What is piped in without a link of ours ends in a sentence, whatever bytes it has."""
    iomine("digest", "--warehouse", facility, "--outbox", tmp_path, "--since", FIRST.isoformat())
    answer = iomine("digest", "--warehouse", facility, "--take", stdin=b"Subject: hello\xff\r\n\r\n{{link:stop}}")
    assert (2, "The mail's subject has no token of a digest: use the link in the digest to write it.\n") == (
        answer.exit_code,
        answer.stderr,
    )
