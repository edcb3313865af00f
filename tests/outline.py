"""What a browser would make of a page, and names that try to make something else of it."""

from html.parser import HTMLParser
from urllib.parse import unquote

# Tags that are never closed, and those that may not stand within a paragraph.
VOID = {"meta", "link", "rect", "image", "path", "input"}
BLOCKS = {"details", "div", "dl", "table", "section", "p", "ul", "pre"}
# What names other elements of the page by their ids.
_NAMING = {"aria-labelledby", "aria-describedby", "aria-controls", "for"}
HOSTILE = {
    "tag": "<script>alert(1)</script>",
    "quotes": "\"' onmouseover='alert(1)' x=\"",
    "closing": "</script></title></style>-->",
    "jinja": "{{ 7 * 7 }}{% raw %}",
    "lines": "a\nb\r\n\tc\0",
    "right to left": "\u202egpj.exe\u2066 \u05e9\u05dc\u05d5\u05dd",
    "4 KB": "<b>" + "x" * 4096,
}


class Outline(HTMLParser):
    """What a browser would make of a page: tags that nest, the texts between them, and ids, to which labels and links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.named: set[str] = set()
        self.text = ""
        self.tags: set[str] = set()
        self.feed(html)
        assert self.open == []
        assert set() == self.named - set(self.ids)

    def handle_starttag(self, tag, attrs) -> None:
        """A tag begins: it holds no script and no style, and no block stands in a paragraph."""
        self.tags.add(tag)
        values = dict(attrs)
        assert not [name for name in values if name.startswith("on") or name == "style"]
        assert tag not in BLOCKS or "p" not in self.open
        if "id" in values:
            self.ids.append(values["id"])
        self.named |= {name for key in _NAMING & values.keys() for name in values[key].split()}
        if values.get("href", "").startswith("#"):
            self.named.add(unquote(values["href"][1:]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        """The tag ends that was begun last."""
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        """What people read."""
        self.text += data
