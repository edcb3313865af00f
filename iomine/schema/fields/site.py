"""Words that a site coins for its own views: the ending of the name is the kind, so a name says all that others need to know.

Any process can read them: that of a worker which judges by them, or of a page which shows them.
"""

from typing import Final

from iomine.schema.fields.kinds import Field, Kind, Privacy

PREFIX: Final = "site_"
# The first ending that fits counts.
ENDINGS: Final[dict[str, tuple[Kind, Privacy | None]]] = {
    "_count": (Kind.COUNT, None),
    "_bytes": (Kind.BYTES, None),
    "_core_seconds": (Kind.CORE_SECONDS, None),
    "_seconds": (Kind.SECONDS, None),
    "_ratio": (Kind.RATIO, None),
    "_at": (Kind.TIME, None),
    "_path": (Kind.TEXT, Privacy.PATH),
    "_user": (Kind.TEXT, Privacy.NAME),
    "_host": (Kind.TEXT, Privacy.NAME),
    # An export replaces what it cannot know to be harmless.
    "_name": (Kind.TEXT, Privacy.WORD),
}


def site_word(name: str) -> Field:
    """The field that a word of a site stands for; what it means is said by the view that has it.

    Raises:
        KeyError: it is no such word.
    """
    if name.startswith(PREFIX):
        for ending, (kind, privacy) in ENDINGS.items():
            if name.endswith(ending):
                return Field(name, kind, "A word of this site.", privacy)
    raise KeyError(name)
