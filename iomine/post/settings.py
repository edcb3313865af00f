"""What a site sets for its digests; `digest.toml` in the warehouse changes what differs from here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, PlainValidator, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

from iomine.errors import UsageError
from iomine.post.addresses import is_address
from iomine.settings import Amount, Count, CountOrZero, Line, Lines, SiteSettings, setting

_AMOUNT: Final = TypeAdapter(Annotated[float, Field(ge=0, allow_inf_nan=False)])
_HERE: Final = ("localhost", "127.0.0.1", "::1")


class DirectorySettings(SiteSettings):
    """Who has which address."""

    whose: ClassVar[str] = "directory"
    kind: Literal["template", "csv", "passwd", "ldap"] = setting("template", "Where addresses are looked up.")
    template: Line = setting("{user}@localhost", "Address of a user, for kinds template and passwd.")
    file: Line = setting("", "For kind csv: a file of lines `user,address` or `user,address,name`, seen from the warehouse.")
    server: Line = setting("", "For kind ldap: the server, such as ldaps://ldap.site.org.")
    tls: Literal["none", "starttls"] = setting("starttls", "For kind ldap: how ldap:// is encrypted; ldaps:// always is.")
    ca_file: Line = setting("", "For kind ldap: certificates that its own is checked against; empty: the system's.")
    base: Line = setting("", "For kind ldap: where people are listed, such as ou=people,dc=site,dc=org.")
    filter: Line = setting("(uid={user})", "For kind ldap: which of them is the user.")
    address: Line = setting("mail", "For kind ldap: the attribute that holds the address.")
    name: Line = setting("cn", "For kind ldap: the attribute that holds the name.")
    user: Line = setting("", "For kind ldap: whom to bind as; empty: anonymous.")
    password_file: Line = setting("", "For kind ldap: a file with the password, which nobody else may read.")
    timeout_seconds: Count = setting(20, "For kind ldap: how long an answer may take.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        if not is_address(self.template.replace("{user}", "user")) or self.template.count("{user}") != 1:
            raise UsageError(f"directory.template must be an address with {{user}} in it, not {self.template!r}.")
        if "{user}" not in self.filter:
            raise UsageError(f"directory.filter must have {{user}} in it, such as (uid={{user}}), not {self.filter!r}.")
        if self.kind == "csv" and not self.file:
            raise UsageError("directory.file is missing: name the file that has the addresses.")
        if self.kind == "ldap" and not (self.server.startswith(("ldap://", "ldaps://")) and self.base):
            raise UsageError("directory.server must be ldap://… or ldaps://…, and directory.base say where people are listed.")
        if self.user and self.tls == "none" and self.server.startswith("ldap://"):
            raise UsageError("directory.user would send its password unencrypted: set directory.tls to starttls.")
        return self


class SmtpSettings(SiteSettings):
    """The mail server that takes the mails."""

    whose: ClassVar[str] = "smtp"
    host: Line = setting("", "Mail server that takes the mails; empty: none.")
    port: Count = setting(25, "Its port: often 25 with none, 587 with starttls, 465 with implicit.")
    tls: Literal["none", "starttls", "implicit"] = setting(
        "none", "How the connection is made secret; the server's certificate is checked."
    )
    ca_file: Line = setting("", "Certificates that the server's is checked against; empty: the system's.")
    user: Line = setting("", "Whom to log in as; empty: no login.")
    password_file: Line = setting("", "A file with the password, which nobody else may read.")
    timeout_seconds: Count = setting(60, "How long an answer of the server may take.")
    per_minute: CountOrZero = setting(120, "Mails in a minute, at most; 0: as many as it takes.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        if bool(self.user) != bool(self.password_file):
            raise UsageError("smtp.user and smtp.password_file go together: set both or none.")
        if self.user and self.tls == "none" and self.host not in _HERE:
            raise UsageError("smtp.user would send its password unencrypted: set smtp.tls to starttls or implicit.")
        return self


class Exclusions(SiteSettings):
    """What is left out of digests, by names as the logs and the accounting have them."""

    users: Lines = setting((), "Users who get no digest.")
    accounts: Lines = setting((), "Accounts whose runs are left out.")
    applications: Lines = setting((), "Applications that are left out.")


class WebhookSettings(SiteSettings):
    """A server that notices are posted to, as they arise."""

    whose: ClassVar[str] = "webhook"
    url: Line = setting("", "Where notices are posted as JSON, such as https://chat.site.org/hooks/storage; empty: nowhere.")
    token_file: Line = setting("", "A file with the token that the server asks for (Bearer), which nobody else may read.")
    timeout_seconds: Count = setting(20, "How long an answer may take.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        if self.url and not _is_site(self.url, more="?=&,"):
            raise UsageError(f"webhook.url must be an address such as https://chat.site.org/hooks/storage, not {self.url!r}.")
        if self.url.startswith("http:") and urlsplit(self.url).hostname not in _HERE:
            raise UsageError("webhook.url would send notices unencrypted: write it with https.")
        return self


Side = Literal["above", "below", "equal"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that a night's metric is compared with.

    Attributes:
        side: on which side of it the metric is noticed.
        value: the number, in the metric's unit.
    """

    side: Side
    value: float


def _limit(given: object) -> Limit:
    """Reads a limit; a bare number is one that the metric must not lie above."""
    if isinstance(given, Limit):
        return given
    if not isinstance(given, dict):
        return Limit("above", _amount(given))
    match list(given.items()):
        case [(side, value)] if side in get_args(Side):
            return Limit(side, _amount(value))
    raise PydanticCustomError("limit", "Input should be a number, or one such as { below = 3 }; above, below and equal are known")


def _amount(given: object) -> float:
    try:
        return _AMOUNT.validate_python(given, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise PydanticKnownError(first["type"], first.get("ctx")) from None  # type: ignore[arg-type]  # as pydantic gave it


class Settings(SiteSettings):
    """All of it. Files are seen from the warehouse."""

    whose: ClassVar[str] = "digest"
    from_name: Line = setting("iomine", "Name of the sender.")
    from_address: Line = setting("iomine@localhost", "Address of the sender.")
    reply_to: Line = setting("", "Address for answers of people; empty: the sender's.")
    envelope_from: Line = setting("", "Address that mail servers report to what they could not deliver; empty: the sender's.")
    actions_address: Line = setting("", "Address that is piped into `iomine digest --take`; empty: that for answers.")
    site: Line = setting("", "Where `iomine serve` is reached, such as https://iomine.site.org/; empty: links write mails.")
    operators: Lines = setting((), "Addresses that get the nightly summary.")
    reports: Literal["link", "attachment"] = setting(
        "link", "How a mail brings the report of its costliest run: by a link only, or also as a file, unless that is large."
    )
    cooldown_days: CountOrZero = setting(14, "Days before the same finding is mailed again.")
    snooze_days: Count = setting(30, "Days that a finding is not mailed after its user chose to be reminded later.")
    least_core_hours: Amount = setting(1.0, "Core-hours that a finding must cost to be mailed.")
    most_entries: Count = setting(5, "Findings in a digest, at most.")
    most_mails: Count = setting(500, "Digests that a run sends, at most; the costliest first, others wait for the next run.")
    give_up_days: Count = setting(5, "Days after which a digest that no server takes is given up.")
    in_doubt: Literal["resend", "hold"] = setting(
        "resend", "What happens to a digest that may have been sent when the connection or the machine failed."
    )
    directory: DirectorySettings = setting(DirectorySettings(), "Who has which address.")
    smtp: SmtpSettings = setting(SmtpSettings(), "The mail server that takes the mails.")
    exclude: Exclusions = setting(Exclusions(), "What is left out of digests, by names as the logs and the accounting have them.")
    investigators: Mapping[str, Line] = setting({}, 'Who answers for an account, a user or an address, such as chem042 = "ada".')
    notices: Mapping[str, Annotated[Limit, PlainValidator(_limit)]] = setting(
        {},
        "Thresholds of a night's metrics; operators get a notice when one is crossed. links_down = 0 means "
        "{ above = 0 }: more than 0. The other forms are { below = 3 } and { equal = 0 }.",
    )
    webhook: WebhookSettings = setting(WebhookSettings(), "A server that notices are posted to, as they arise.")

    @model_validator(mode="after")
    def _is_fit(self) -> Self:
        optional = (self.reply_to, self.envelope_from, self.actions_address)
        for address in (self.from_address, *filter(None, optional), *self.operators):
            if not is_address(address):
                raise UsageError(f"{address!r} is not a mail address: write it as somebody@site.org.")
        if self.site and not _is_site(self.site):
            raise UsageError(f"site must be an address such as https://iomine.site.org/, not {self.site!r}.")
        return self

    @property
    def answers_to(self) -> str:
        """Where answers of people go."""
        return self.reply_to or self.from_address

    @property
    def actions_to(self) -> str:
        """The address of mails that links write."""
        return self.actions_address or self.answers_to

    @property
    def returns_to(self) -> str:
        """Where mail servers report to."""
        return self.envelope_from or self.from_address

    @property
    def root(self) -> str:
        """The address of the site with a slash at its end, empty where there is none."""
        return f"{self.site.rstrip('/')}/" if self.site else ""


def _is_site(text: str, more: str = "") -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and text.isascii()
            and not set(text) & (set(" <>\"'?#,") - set(more))
        )
    except ValueError:
        return False
