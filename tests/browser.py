"""Chromium for tests: Debian's, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

NO_CHROMIUM = "Chromium is not here: `apt-get install chromium` brings it"
# As root, and without looking for its maker's hosts.
_ARGUMENTS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
_WEBGL = "--enable-unsafe-swiftshader"
# Numbers follow the picture by half as long.
_STILL_MS = 250


@contextmanager
def chromium(*, is_webgl: bool = False) -> Iterator[Any]:
    """A running browser, of Playwright's sync API; skips where there is none.

    Args:
        is_webgl: whether it is to have WebGL, by software.
    """
    path = shutil.which("chromium")
    if path is None:
        pytest.skip(NO_CHROMIUM)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_ARGUMENTS, _WEBGL if is_webgl else "--disable-gpu"])
        yield browser
        browser.close()


class Page:
    """A page of which nothing may go wrong unseen: what it complains about ends the test.

    Args:
        browser: from `chromium`.
        address: of the page.
    """

    def __init__(self, browser: Any, address: str) -> None:
        self._complaints: list[str] = []
        self.page = browser.new_page(viewport={"width": 1200, "height": 900})
        self.page.on("console", lambda message: self._complaints.append(message.text))
        self.page.on("pageerror", lambda error: self._complaints.append(str(error)))
        self.page.goto(address)
        self.page.wait_for_selector(".explorer[data-ready]")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.page.close()
        assert [] == self._complaints

    @property
    def explorer(self) -> Any:
        """The explorer, apart from the rest of the page."""
        return self.page.locator(".explorer")

    @property
    def status(self) -> str:
        """What the explorer says is in sight, once it stands still."""
        self.page.wait_for_timeout(_STILL_MS)
        return self.explorer.locator("p.status").inner_text()

    def table(self, caption: str) -> list[list[str]]:
        """Cells of a table, once the explorer stands still."""
        self.page.wait_for_timeout(_STILL_MS)
        rows = self.explorer.locator("table", has=self.page.locator("caption", has_text=caption)).locator("tbody tr")
        return [row.locator("td").all_inner_texts() for row in rows.all()]

    def picture(self) -> dict[str, float]:
        """Where the picture lies in the window, all of which can be pointed at."""
        canvas = self.explorer.locator("canvas")
        canvas.evaluate("canvas => canvas.scrollIntoView({ behavior: 'instant', block: 'center' })")
        box: dict[str, float] = canvas.bounding_box()
        return box

    def tip(self) -> dict[str, str]:
        """What the pointer is on, by label; empty where it is on nothing."""
        tip = self.explorer.locator(".tip")
        if not tip.is_visible():
            return {}
        return dict(zip(tip.locator("dt").all_inner_texts(), tip.locator("dd").all_inner_texts(), strict=True))

    def press(self, *keys: str) -> None:
        """Presses keys on the picture."""
        for key in keys:
            self.explorer.locator("canvas").press(key)

    def view(self, name: str) -> None:
        """Goes to a view."""
        self.explorer.get_by_role("button", name=name, exact=True).click()

    def saved(self, button: str, folder: Path) -> Path:
        """The file that a button saves."""
        with self.page.expect_download() as download:
            self.explorer.get_by_role("button", name=button, exact=True).click()
        target = folder / download.value.suggested_filename
        download.value.save_as(target)
        return target
