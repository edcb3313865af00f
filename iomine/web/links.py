"""Where pages lie: seen from the server, all by relative addresses, so that a proxy may put it under any path."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from iomine.report.job import job_page_name
from iomine.report.page import TRIGGERS_PAGE
from iomine.web.pages import script_name, style_name
from iomine.web.panel import JobName, Subject
from iomine.web.question import Question


@dataclass(frozen=True, slots=True)
class ServedLinks:
    """Links of a page that is served.

    Attributes:
        root: the way from the page's folder to the dashboard's.
    """

    root: str
    is_served: bool = True

    def dashboard(self, parameters: Sequence[tuple[str, str]] = ()) -> str:
        """The dashboard of a window."""
        return _address(self.root or "./", parameters)

    def rows(self, question: Question, ending: str = "") -> str:
        """Rows of a view as a page, or as a file of that ending."""
        place = f"{self.root}views/{quote(question.view)}" + (f".{ending}" if ending else "")
        return _address(place, question.parameters)

    def views(self) -> str:
        """The page of all views."""
        return f"{self.root}views/"

    def about(self, subject: Subject) -> str:
        """The page of a user, application, host, target or file system."""
        return _address(f"{self.root}about/{subject.kind}", [("name", subject.name)])

    def job(self, job: JobName) -> str | None:
        """A job's page, None where none can be named after it."""
        name = job_page_name(job.cluster, job.job_id)
        return name and f"{self.root}reports/{name}"

    def search(self, text: str = "") -> str:
        """What is called so, or where to ask."""
        return _address(f"{self.root}search", [("q", text)] if text else [])

    def names(self) -> None:
        """The server knows the names."""

    def report(self, log_id: str, anchor: str = "") -> str:
        """A log's report."""
        return f"{self.root}reports/{quote(log_id, safe='')}.html" + (f"#{quote(anchor)}" if anchor else "")

    def triggers(self, code: str) -> str:
        """What a trigger stands for."""
        return f"{self.root}reports/{TRIGGERS_PAGE}#{quote(code)}"

    def fabric(self, cluster: str | None = None) -> str:
        """The fabric of a machine, of the first one where none is named."""
        return _address(f"{self.root}fabric", [("cluster", cluster)] if cluster else [])

    def circle(self, cluster: str | None = None) -> str:
        """The night's circle of a machine, of the first one where none is named."""
        return _address(f"{self.root}circle", [("cluster", cluster)] if cluster else [])

    def script(self, name: str) -> str:
        """A script that draws."""
        return f"{self.root}assets/{script_name(name)}"

    def style(self, name: str = "web") -> str:
        """A style sheet."""
        return f"{self.root}assets/{style_name(name)}"


def _address(place: str, parameters: Sequence[tuple[str, str]]) -> str:
    return f"{place}?{urlencode(parameters)}" if parameters else place
