"""What is one cause and what are two."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from iomine.digest.causes import NEARLY_ALL, Sign, causes_of
from iomine.triggers import TRIGGERS
from iomine.triggers.model import FINDING_LEVELS

NIGHT = date(2024, 4, 18)
CODES = sorted(code for code, each in TRIGGERS.items() if each.ruleset == "iomine" and each.level in FINDING_LEVELS)


def sign(code: str, cost: float | None = 1.0, runs: int = 10) -> Sign:
    return Sign(code, TRIGGERS[code].level.value, runs, 1, NIGHT, NIGHT, cost, cost, None, None, 0, "0" * 16, NIGHT)


def grouped(signs: list[Sign], together: dict[tuple[str, str], int] | None = None) -> list[list[str]]:
    both = together or {(one.code, other.code): min(one.run_count, other.run_count) for one in signs for other in signs}
    return [[each.code for each in (cause.lead, *cause.others)] for cause in causes_of("c", "u", "a", signs, both)]


def test_codes_of_the_same_runs_are_one_cause():
    """Misaligned requests that are not collective are listed once, the costliest first."""
    assert [["MPIIO-102", "POSIX-121"]] == grouped([sign("POSIX-121", 5), sign("MPIIO-102", 7)])


def test_other_runs_are_another_cause():
    """Four runs in five are nearly all of them, fewer are not."""
    signs = [sign("POSIX-102", 7), sign("POSIX-121", 5)]
    assert [["POSIX-102", "POSIX-121"]] == grouped(signs, {("POSIX-102", "POSIX-121"): 8})
    assert [["POSIX-102"], ["POSIX-121"]] == grouped(signs, {("POSIX-102", "POSIX-121"): 7})


def test_a_cost_that_is_not_known_leads_nothing_that_is():
    """Without a cost a sign comes last."""
    assert [["POSIX-301", "SYSTEM-103"]] == grouped([sign("SYSTEM-103", None), sign("POSIX-301", 0.0)])


def test_who_could_lead_is_named():
    """Signs that cost half as much as the lead may lead in other nights, cheaper ones do not."""
    (cause,) = causes_of(
        "c", "u", "a", [sign("POSIX-102", 8), sign("MPIIO-102", 4), sign("POSIX-121", 3)],
        {("POSIX-102", "MPIIO-102"): 10, ("POSIX-102", "POSIX-121"): 10},
    )  # fmt: skip
    assert ["POSIX-102", "MPIIO-102"] == [each.code for each in cause.could_lead()]


def test_codes_of_another_release_are_kept_with_the_lead():
    """A warehouse may hold findings of triggers that are gone; nobody knows what these were about."""
    old = replace(sign("POSIX-102", 5), code="POSIX-999")
    assert [["POSIX-101", "POSIX-999"]] == grouped([sign("POSIX-101", 7), old])


@given(
    st.lists(
        st.tuples(st.sampled_from(CODES), st.one_of(st.none(), st.floats(0, 1e6)), st.sets(st.integers(0, 9), min_size=1)),
        unique_by=lambda each: each[0],
        max_size=8,
    )
)
def test_causes_part_the_signs(given_signs):
    """Each sign is in one cause; causes come by their costliest sign, which holds nearly all runs of the others."""
    runs = {code: fired for code, _, fired in given_signs}
    signs = [sign(code, cost, len(fired)) for code, cost, fired in given_signs]
    together = {(one, other): len(runs[one] & runs[other]) for one in runs for other in runs if one != other}
    found = causes_of("c", "u", "a", signs, together)
    assert sorted(runs) == sorted(each.code for cause in found for each in (cause.lead, *cause.others))

    def cost_of(each: Sign) -> float:
        return -1 if each.cost_core_seconds is None else float(f"{each.cost_core_seconds:.6g}")

    costliest = [max((cause.lead, *cause.others), key=cost_of) for cause in found]
    assert [cost_of(each) for each in costliest] == sorted(map(cost_of, costliest), reverse=True)
    for cause, top in zip(found, costliest, strict=True):
        assert cost_of(cause.lead) == cost_of(top)
        tops = [each for each in (cause.lead, *cause.others) if cost_of(each) == cost_of(top)]
        assert any(
            all(
                len(runs[each.code] & runs[one.code]) >= NEARLY_ALL * len(runs[each.code]) for each in (cause.lead, *cause.others)
            )
            for one in tops
        )


def test_a_cause_is_called_as_the_reports_of_its_runs_call_it():
    """The costliest code need not lead: what reports call the cause by is in their verdicts; few runs decide nothing."""
    both = {("FILE-101", "LUSTRE-203"): 10, ("LUSTRE-203", "FILE-101"): 10}
    files, osts = replace(sign("FILE-101", 9), led_core_seconds=2.0), replace(sign("LUSTRE-203", 5), led_core_seconds=3.0)
    assert [["LUSTRE-203", "FILE-101"]] == grouped([files, osts], both)
    assert [["FILE-101", "LUSTRE-203"]] == grouped([replace(files, led_core_seconds=4.0), osts], both)
    assert [["FILE-101", "LUSTRE-203"]] == grouped([replace(files, run_count=20), osts], both)


def test_a_cause_may_be_called_by_a_code_without_a_cost():
    """A faulty link has no cost; reports call the stragglers' cause by it."""
    link = replace(sign("FABRIC-101", None), led_core_seconds=0.0)
    assert [["FABRIC-101", "RANK-101"]] == grouped([sign("RANK-101", 9), link])
