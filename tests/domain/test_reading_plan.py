"""Which candidates are read: none where nothing will answer, few where one leads, more where it is close."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.ranking import floor_of
from holdfast.domain.reading_plan import ReadingPlan, Unread


def read(cosines: Sequence[float], says: Sequence[float]) -> tuple[list[int], ReadingPlan]:
    """The places that were read, in order, by a reader that says this of each candidate."""
    candidates = [Unread(1.15 * cosine, cosine, 0.0) for cosine in cosines]
    plan = ReadingPlan(candidates, lambda odds: floor_of(list(zip(cosines, odds, strict=True))))
    order = []
    while (place := plan.next()) is not None:
        plan.read(place, says[place])
        order.append(place)
    return order, plan


def test_nothing_is_read_where_nothing_is_near() -> None:
    order, plan = read([0.18, 0.15, 0.12, 0.1], [5.0, 5.0, 5.0, 5.0])

    assert order == []
    assert plan.floor > 1


def test_one_that_helps_and_leads_is_all_that_is_read() -> None:
    order, plan = read([0.62, 0.3, 0.28, 0.2], [3.0, -3.0, -3.0, -3.0])

    assert order == [0]
    assert plan.floor == 0
    assert plan.odds[0] == 3.0


def test_where_the_nearest_does_not_help_the_next_ones_are_read_until_one_does() -> None:
    order, plan = read([0.45, 0.44, 0.43, 0.42], [-3.5, -3.5, 3.0, -3.5])

    assert order == [0, 1, 2]
    assert plan.floor == 0


def test_what_could_tip_the_scales_is_read_and_what_was_read_counts() -> None:
    order, plan = read([0.45, 0.44, 0.43, 0.42], [-5.0, -5.0, -5.0, -5.0])

    assert set(order) <= {0, 1, 2, 3}
    assert order[:2] == [0, 1]
    assert plan.floor > 1


def test_where_the_first_may_not_help_those_below_the_page_are_read() -> None:
    cosines = [0.62, 0.41, 0.4, 0.4, 0.39, 0.39, 0.38, 0.3]

    surely, _ = read(cosines, [3.0, *[-2.5] * 7])
    perhaps, _ = read(cosines, [0.2, *[-2.5] * 7])

    assert surely == [0]
    assert {5, 6} <= set(perhaps)
