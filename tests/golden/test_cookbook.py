"""What the cookbook answers is what the program answers."""

import pytest
from cookbook import PAGE, facility, page, recipes

pytestmark = pytest.mark.site


def test_the_cookbook_is_what_a_facility_answers(tmp_path, scheduler):
    """Each of at least 25 questions has an answer, and the page has the query and the answer of the same facility."""
    assert len(list(recipes())) >= 25
    assert PAGE.read_text(encoding="utf-8") == page(facility(tmp_path, scheduler))
