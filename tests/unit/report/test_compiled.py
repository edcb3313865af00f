"""Templates are compiled once, and kept for the next command."""

from pathlib import Path

import pytest
from jinja2 import Environment

from iomine.report.compiled import templates_of

TEMPLATE = "head.html.j2"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of templates, as they are compiled."""
    names = []
    compile_one = Environment.compile

    def noted(self, source, name=None, filename=None):
        names.append(name)
        return compile_one(self, source, name, filename)

    monkeypatch.setattr(Environment, "compile", noted)
    return names


def test_the_next_command_compiles_no_template(compiled: list[str]) -> None:
    """It finds the same code; where texts are not escaped, the code is another."""
    first, again, plain = (
        templates_of("iomine.report", is_markup=is_markup).get_template(TEMPLATE) for is_markup in (True, True, False)
    )
    assert [TEMPLATE, TEMPLATE] == compiled
    assert first.root_render_func.__code__ == again.root_render_func.__code__
    assert first.root_render_func.__code__ != plain.root_render_func.__code__


def test_a_template_that_changed_is_compiled(compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jinja compares the source."""
    room = tmp_path / "room"
    (room / "templates").mkdir(parents=True)
    (room / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for text in ("one", "two", "two"):
        (room / "templates" / "x.j2").write_text(text)
        assert text == templates_of("room").get_template("x.j2").render()
    assert ["x.j2", "x.j2"] == compiled
