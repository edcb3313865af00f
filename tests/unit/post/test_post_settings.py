"""What a site sets for its digests: read in full, refused in a sentence."""

from pathlib import Path

import pytest

from iomine.errors import UsageError
from iomine.post.settings import DirectorySettings, Exclusions, Limit, Settings, SmtpSettings
from iomine.settings import SiteSettings, read_site_file

TEMPLATE = (Path(__file__).parents[3] / "deploy" / "digest.toml").read_text(encoding="utf-8")


def names(record: type[SiteSettings]) -> list[str]:
    """Settings in their order, with lines that begin tables."""
    found = []
    for name, each in record.model_fields.items():
        is_record = isinstance(each.default, SiteSettings)
        found += [f"[{name}]" if is_record or each.default == {} else name, *(names(type(each.default)) if is_record else [])]
    return found


def test_the_template_says_what_ships():
    """It sets nothing as it is, with every value uncommented what would hold anyway, and leaves out no setting."""
    values = [
        line.removeprefix("#") for line in TEMPLATE.splitlines() if line.startswith("[") or (line[:1] == "#" != line[1:2] > " ")
    ]
    assert Settings() == Settings.parse(TEMPLATE) == Settings.parse("\n".join(values)) == Settings.parse("")
    assert names(Settings) == [line if line.startswith("[") else line.partition(" = ")[0] for line in values]
    assert len(values) == TEMPLATE.split("\n\n", 1)[1].count("# ")


def test_all_of_it_can_be_set():
    """Each kind of value, in each table."""
    text = """
    from_address = "digest@site.org"
    site = "https://iomine.site.org/io/"
    operators = ["a@site.org", "b@site.org"]
    cooldown_days = 0
    least_core_hours = 2
    in_doubt = "hold"
    [directory]
    kind = "csv"
    file = "people.csv"
    [smtp]
    host = "mail.site.org"
    tls = "starttls"
    user = "iomine"
    password_file = "digest.password"
    [exclude]
    users = ["root"]
    [investigators]
    chem042 = "ada"
    "phys 7" = "pi@elsewhere.org"
    [notices]
    rejected_ratio = 0.1
    regressions = 3
    links_down = { equal = 1 }
    """
    expected = Settings(
        from_address="digest@site.org",
        site="https://iomine.site.org/io/",
        operators=("a@site.org", "b@site.org"),
        cooldown_days=0,
        least_core_hours=2.0,
        in_doubt="hold",
        directory=DirectorySettings(kind="csv", file="people.csv"),
        smtp=SmtpSettings(host="mail.site.org", tls="starttls", user="iomine", password_file="digest.password"),  # noqa: S106  a file
        exclude=Exclusions(users=("root",)),
        investigators={"chem042": "ada", "phys 7": "pi@elsewhere.org"},
        notices={"rejected_ratio": Limit("above", 0.1), "regressions": Limit("above", 3.0), "links_down": Limit("equal", 1.0)},
    )
    assert expected == Settings.parse(text)
    assert "https://iomine.site.org/io/" == expected.root
    assert ["digest@site.org"] * 3 == [expected.answers_to, expected.actions_to, expected.returns_to]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("cooldwn_days = 3", "There is no digest setting cooldwn_days: did you mean cooldown_days?"),
        ("[smtp]\nhots = 'x'", "There is no digest setting smtp.hots: did you mean host?"),
        ("[smpt]\nhost = 'x'", "There is no digest setting smpt: did you mean smtp?"),
        ("[exclude]\nzzz = []", "There is no digest setting exclude.zzz: there are users, accounts, applications."),
        ("smtp = 'mail'", "smtp is a table: write its settings under a line [smtp]."),
        ("investigators = 3", "investigators is a table: write its settings under a line [investigators]."),
        ("cooldown_days = -1", "cooldown_days must be greater than or equal to 0, not -1."),
        ("cooldown_days = 1.5", "cooldown_days must be a whole number, not 1.5."),
        ("most_entries = true", "most_entries must be a whole number, not True."),
        ("least_core_hours = '1'", "least_core_hours must be a number, not '1'."),
        ("least_core_hours = nan", "least_core_hours must be a finite number, not nan."),
        ("least_core_hours = inf", "least_core_hours must be a finite number, not inf."),
        (f"least_core_hours = 1{'0' * 400}", "least_core_hours must be a number, not 1000"),
        ("in_doubt = 'send'", "in_doubt must be 'resend' or 'hold', not 'send'."),
        ("from_name = 7", "from_name must be text, not 7."),
        ('from_name = "a\\nBcc: b@c"', "from_name must be one line of text, not "),
        ("from_address = 'Io <a@b>'", "'Io <a@b>' is not a mail address: write it as somebody@site.org."),
        ("reply_to = 'a@b@c'", "'a@b@c' is not a mail address"),
        ("operators = ['a@b', 'c']", "'c' is not a mail address"),
        ("operators = 'a@b'", "operators must be a list of lines of text, not 'a@b'."),
        ("site = 'iomine.site.org'", "site must be an address such as https://iomine.site.org/, not "),
        ("site = 'javascript://x'", "site must be an address"),
        ("site = 'https://x/?a='", "site must be an address"),
        ("site = 'https://[x/'", "site must be an address"),
        ("[notices]\na = '1'", "notices.a must be a number, not '1'."),
        ("[notices]\na = -1", "notices.a must be greater than or equal to 0, not -1."),
        ("[notices]\na = nan", "notices.a must be a finite number, not nan."),
        ("[notices]\na = { below = '1' }", "notices.a must be a number, not {'below': '1'}."),
        (
            "[notices]\na = { under = 1 }",
            "notices.a must be a number, or one such as { below = 3 }; above, below and equal are known",
        ),
        ("[notices]\na = { below = 1, above = 3 }", "notices.a must be a number, or one such as"),
        ("[webhook]\nurl = 'chat.site.org'", "webhook.url must be an address such as https://chat.site.org/hooks/storage, not "),
        ("[webhook]\nurl = 'http://chat.site.org/x'", "webhook.url would send notices unencrypted: write it with https."),
        ("[investigators]\nchem = 1", "investigators.chem must be text, not 1."),
        ("[directory]\nkind = 'nis'", "directory.kind must be 'template', 'csv', 'passwd' or 'ldap', not 'nis'."),
        ("[directory]\nkind = 'csv'", "directory.file is missing: name the file that has the addresses."),
        ("[directory]\nkind = 'ldap'\nbase = 'x'", "directory.server must be ldap://"),
        ("[directory]\ntemplate = 'user@site'", "directory.template must be an address with {user} in it, not 'user@site'."),
        ("[directory]\ntemplate = '{user}'", "directory.template must be an address with {user} in it"),
        ("[directory]\nfilter = '(uid=ada)'", "directory.filter must have {user} in it"),
        ("[directory]\nserver = 'ldap://x'\nuser = 'a'\ntls = 'none'", "directory.user would send its password unencrypted"),
        ("[smtp]\nport = '25'", "smtp.port must be a whole number, not '25'."),
        ("[smtp]\ntls = 'ssl'", "smtp.tls must be 'none', 'starttls' or 'implicit', not 'ssl'."),
        ("[smtp]\nuser = 'a'", "smtp.user and smtp.password_file go together: set both or none."),
        ("[smtp]\nhost = 'x'\nuser = 'a'\npassword_file = 'b'", "smtp.user would send its password unencrypted"),
        ("site =", "This is not TOML: "),
    ],
)
def test_what_is_not_fit_is_reported(tmp_path, text, reported):
    """One sentence with the file, the setting and what it should be."""
    file = tmp_path / "digest.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        read_site_file(file, "digest settings", Settings.parse)
    assert str(error.value).startswith(f"{file}: {reported}")
    assert "\n" not in str(error.value)
