"""The notebook of the docs shows what its cells give."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.proof


def test_the_notebook_shows_what_its_cells_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell gives the output that the page has; if not, run `python tests/docs_notebook.py`."""
    for package in ("nbclient", "ipykernel"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    import nbformat  # noqa: PLC0415  as are nbclient and ipykernel, it may be missing
    from docs_notebook import PAGE, executed, sweep  # noqa: PLC0415

    sweep(tmp_path)
    monkeypatch.setenv("IOMINE_WAREHOUSE", str(tmp_path))
    expected = nbformat.read(PAGE, as_version=4)
    assert any(cell.get("outputs") for cell in expected.cells)
    assert expected == executed()
