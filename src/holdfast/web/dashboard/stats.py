"""/stats: charts of a space's growth, content, use and cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.domain.memory import Memory, Origin
from holdfast.domain.query import SessionFilter
from holdfast.domain.spend import MICRO, Spent, dollars
from holdfast.engine.audit import Audit, Finding
from holdfast.engine.stats import Funnel, Stats, sampled
from holdfast.errors import NotFound
from holdfast.web.dashboard import charts
from holdfast.web.dashboard.responses import PageRoute, page, part
from holdfast.web.dashboard.visit import ReadVisit, Visit

POINTS: Final = 30  # of the count over time
DAYS: Final = 14  # of spend, by day
#: The number of memories that are audited with the page; more only on request.
LOOKED_THROUGH: Final = 400
SHOWN: Final = 3  # memories of each kind of junk
TITLES: Final = {
    "duplicates": "Duplicates",
    "undated": "Relative dates",
    "secrets": "Secrets",
    "contradictions": "Contradictions",
    "never_used": "Unused for 30 days",
    "other_model": "Vectors of other models",
}
SOURCES: Final[dict[Origin, str]] = {
    "operator": "The operator", "user": "Users", "assistant": "Assistants",
    "tool": "Tools", "import": "Imports", "file": "Files",
}  # fmt: skip
PURPOSES: Final = {"gate": "Gate", "extract": "Extractor", "judge": "Judge"}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled amount and its bar."""

    label: str
    value: int
    share: float  # of the greatest, 0 to 100
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Junk:
    """One kind of finding, with some of its memories."""

    finding: Finding
    title: str
    rate: float | None  # of all memories; None if it does not count memories
    examples: list[tuple[Memory, ...]]  # alone, or the two of a pair, the older first


@router.get("/stats")
def stats(visit: ReadVisit, audit: bool = False) -> Response:
    found = visit.memories.stats()
    looked = visit.memories.audit() if audit else None
    over_time = sampled(found.growth, found.now.date(), POINTS)
    steps = [_step(found.accesses, place) for place in range(1, len(found.accesses))]
    steps = [("never", found.never_used), ("briefs only", found.briefs_only), *steps]
    return page(
        visit,
        "stats.html",
        stats=found,
        growth=charts.curve([(f"{day.day} {day:%b %Y}", amount) for day, amount in over_time]),
        growth_rows=[(day.isoformat(), f"{amount:,}") for day, amount in over_time[::-1]],
        categories=_categories(visit, [pair for pair in found.categories if pair[1]]),
        without=_categories(visit, [pair for pair in found.categories if not pair[1]]),
        origins=_origins(visit, found),
        confidence=charts.columns([(f"{n / 10:g}", value) for n, value in enumerate(found.confidence)]),
        importance=charts.columns([(str(n), value) for n, value in enumerate(found.importance, 1)]),
        accesses=charts.columns(steps),
        funnel=_funnel(found.funnel),
        at_once=found.memories <= LOOKED_THROUGH,
        **_junk(visit, looked),
        **_spend(visit),
    )


@router.get("/stats/audit")
def audit(visit: ReadVisit) -> Response:
    """The findings of the audit; loaded separately, because it reads all memories."""
    if not visit.partial:
        return page(visit, "stats_audit_page.html", **_junk(visit, visit.memories.audit()))
    return part(visit, "stats_audit.html", **_junk(visit, visit.memories.audit()))


def rows(
    amounts: Sequence[tuple[str, int]], *, notes: Sequence[str] = (), links: Sequence[str] = ()
) -> list[Row]:
    """Amounts as bars below each other."""
    drawn = charts.shares([value for _, value in amounts])
    said, led = [*notes, *([""] * len(amounts))], [*links, *([""] * len(amounts))]
    return [
        Row(label, value, share, said[place], led[place])
        for place, ((label, value), share) in enumerate(zip(amounts, drawn, strict=True))
    ]


def _categories(visit: Visit, categories: Sequence[tuple[str, int]]) -> list[Row]:
    return rows(categories, links=[visit.address("/memories", category=name) for name, _ in categories])


def _origins(visit: Visit, found: Stats) -> list[Row]:
    """Where the memories came from; together they are all that there are."""
    known = [(name, amount) for name, amount in found.origins if amount]
    links = [visit.address("/memories", origin=name) for name, _ in known]
    return rows([(SOURCES[name], amount) for name, amount in known], links=links)


def _step(steps: Sequence[tuple[int, int]], place: int) -> tuple[str, int]:
    least, amount = steps[place]
    if place + 1 == len(steps):
        return f"{least}+", amount
    most = steps[place + 1][0] - 1
    return (str(least) if least == most else f"{least}–{most}"), amount


def _funnel(funnel: Funnel) -> list[Row]:
    facts = funnel.pieces - funnel.without
    skipped, later = funnel.read - funnel.pieces, funnel.messages - funnel.read
    left = [f"{skipped:,} skipped"] * (skipped > 0) + [f"{later:,} not yet"] * (later > 0)
    return rows(
        [
            ("Messages", funnel.messages),
            ("Searched for facts", funnel.pieces),
            ("With a fact", facts),
            ("Statements taken from them", funnel.taken),
        ],
        notes=["", ", ".join(left), "", "repetitions included"],
    )


def _junk(visit: Visit, audit: Audit | None) -> dict[str, Any]:
    if audit is None:
        return {"audit": None, "junk": [], "junk_rate": 0.0}
    junk = [Junk(one, TITLES[one.kind], _rate(one, audit), _examples(visit, one)) for one in audit.findings]
    kinds = ("duplicates", "undated", "secrets", "contradictions")
    bad = {owner for one in audit.findings if one.kind in kinds for owner in one.ids}
    return {"audit": audit, "junk": junk, "junk_rate": len(bad) / audit.memories if audit.memories else 0.0}


def _rate(finding: Finding, audit: Audit) -> float | None:
    if finding.kind == "other_model" or not audit.memories:
        return None
    return len(finding.ids) / audit.memories


def _examples(visit: Visit, finding: Finding) -> list[tuple[Memory, ...]]:
    if finding.kind == "other_model":
        return []
    found = []
    for ids in (finding.pairs or [(one,) for one in finding.ids])[:SHOWN]:
        try:
            together = [visit.memories.show(one).memory for one in ids]
        except NotFound:  # deleted meanwhile
            continue
        found.append(tuple(sorted(together, key=lambda one: one.created_at)))
    return found


def _spend(visit: Visit) -> dict[str, Any]:
    report = visit.memories.spend(by="purpose")
    days = visit.memories.spend(by="day", days=DAYS).groups
    agents = visit.memories.session_totals(SessionFilter(upkeep=False))
    cap = report.caps.daily
    first = visit.now.astimezone(UTC).date() - timedelta(days=DAYS - 1)
    return {
        "spend": report,
        "agents": agents,
        "agents_cost": dollars(round(agents.dollars * MICRO)),
        "spent_today": money(report.today),
        "spent_in_all": money(report.total),
        "cap": dollars(cap) if cap is not None else "",
        "cap_share": min(report.today.micro_dollars / cap, 1.0) if cap else 0.0,
        "purposes": [
            (PURPOSES.get(name or "", name or "other"), spent, money(spent)) for name, spent in report.groups
        ],
        "day_rows": [(name or "", money(spent)) for name, spent in days],
        "day_bars": _by_day(days, visit.now.astimezone(UTC).date()),
        "first_day": f"{first.day} {first:%b %Y}",
    }


def _by_day(days: Sequence[tuple[str | None, Spent]], today: date) -> charts.Columns:
    """Every one of the last days, those without a call too."""
    spent = {name: one for name, one in days if name}
    found = []
    for back in range(DAYS - 1, -1, -1):
        day = today - timedelta(days=back)
        of_day = spent.get(day.isoformat(), Spent())
        found.append((str(day.day), of_day.micro_dollars, f"{day.day} {day:%b}: {money(of_day)}"))
    return charts.columns([pair[:2] for pair in found], [says for _, _, says in found])


def money(spent: Spent) -> str:
    """The cost; "+" if a price is unknown."""
    return dollars(spent.micro_dollars) + ("+" if spent.unpriced_calls else "")
