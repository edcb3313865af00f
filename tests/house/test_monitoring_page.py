"""docs/monitoring.md shows what operators see of nights."""

import re

from monitoring_views import MOST_BYTES, PAGE, PICTURES, TEXT


def test_the_page_has_each_picture_once_and_each_is_small():
    """The page is as its program writes it, and its pictures are PNGs that load at once."""
    assert PAGE.read_text(encoding="utf-8") == TEXT
    shown = re.findall(r"\(monitoring/(.*?\.png)\)", TEXT)
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())
    for name in shown:
        picture = (PICTURES / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) < MOST_BYTES
