"""Tables of the benchmarks page become charts in the site."""

from __future__ import annotations

import re

from tools.table_charts import with_charts

COSTS = """\
<!-- chart: goals -->
| | ours | goal | reached |
|---|---|---|---|
| recall, 1k | 9.0 / 9.1 | ≤ 6 | **no** |
| brief, 1k | 2,500 | ≤ 5,000 | yes |
| bulk import | 0.07 | | |
"""


def test_a_cost_is_drawn_beside_its_goal_and_the_table_stays() -> None:
    page = with_charts(f"Before\n\n{COSTS}\nAfter\n")

    assert re.findall(r'class="(ours|missed)" y="18" width="(\d+)"', page) == [
        ("missed", "270"),
        ("ours", "90"),
    ]
    assert COSTS.partition("\n")[2] in page
    assert page.startswith("Before\n")
    assert page.endswith("After\n")


def test_a_table_without_a_request_stays_as_it_is() -> None:
    table = COSTS.partition("\n")[2]

    assert with_charts(table) == table
