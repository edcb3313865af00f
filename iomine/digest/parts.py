"""The two parts of a mail: plain text, and HTML whose styles stand in its tags, with nothing from elsewhere."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from css_inline import CSSInliner
from jinja2 import Environment, PackageLoader, StrictUndefined

from iomine.digest.words import HARD_SPACE, marked, name, unmarked, wrapped
from iomine.report.page import templates_of

_ROOM: Final = "iomine.digest"
# Mail programs take what follows for a signature (RFC 3676, 4.3).
SIGNATURE: Final = "\n-- \n"
# Of the plain part, up to its signature.
MOST_TEXT_LINES: Final = 25


def text_part(template: str, view: Mapping[str, Any]) -> str:
    """The plain part, in lines of 72 columns except for addresses."""
    text = _plain().get_template(f"{template}.txt.j2").render(view)
    lines = "\n".join(line.replace(HARD_SPACE, " ").rstrip() for line in text.splitlines())
    return re.sub("\n{3,}", "\n\n", lines).replace("\n--\n", SIGNATURE).strip() + "\n"


def line_count(text: str) -> int:
    """Lines of a plain part before its signature."""
    return len(text.partition(SIGNATURE)[0].splitlines())


def html_part(template: str, view: Mapping[str, Any]) -> str:
    """The HTML part."""
    # What depends on the reader's choice of light or dark cannot stand in tags.
    inliner = CSSInliner(keep_at_rules=True, load_remote_stylesheets=False)
    return inliner.inline(_rich().get_template(f"{template}.html.j2").render(view))


@cache
def _plain() -> Environment:
    environment = Environment(
        loader=PackageLoader(_ROOM),
        autoescape=False,  # noqa: S701  plain text has nothing to escape
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"wrapped": wrapped, "unmarked": unmarked, "name": name}
    return environment


@cache
def _rich() -> Environment:
    environment = templates_of(_ROOM)
    environment.filters |= {"marked": marked, "name": name}
    return environment
