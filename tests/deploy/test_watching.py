"""The alerts and the dashboard: whatever they name is in /metrics, and each alert fires when it has to."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from holdfast.app.wiring import utc_now
from holdfast.domain.jobs import Job
from tests.deploy.promtool import promtool
from tests.requirements_ledger import requirement
from tests.store.test_continuous_copy import following
from tests.web.rest.conftest import Served
from tests.web.service.test_metrics import model_call

DEPLOY = Path(__file__).parents[2] / "deploy"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "operations.md"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
CASES = DEPLOY / "prometheus" / "alerts_test.yml"
DASHBOARD = json.loads((DEPLOY / "grafana" / "holdfast.json").read_text(encoding="utf-8"))

_SELECTED = re.compile(r"\b((?:holdfast|process)_\w+|up\b)(?:\{([^}]*)\})?")
_LABEL = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
_GROUPED = re.compile(r"\bby \(([^)]*)\)")
OF_PROMETHEUS = {"job", "instance"}  # which it adds to whatever it reads


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return list(group["rules"])


def panel_expressions() -> list[str]:
    queries = [variable["query"] for variable in DASHBOARD["templating"]["list"]]
    return [
        *(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]),
        *(query["query"] for query in queries if isinstance(query, dict)),
    ]


def exposed(database: Path, folder: Path) -> dict[str, set[str]]:
    """The labels of each sample that a service with something of everything tells."""
    served = Served(str(database))
    memories = served.registry.memories("default")
    memories.say("chat", "user", "Jellyfin takes a minute to start")
    memories.close_session("chat")
    now = utc_now()
    with memories.store.write("default") as tx:
        tx.spend.add(model_call("call-1"))
        tx.jobs.add(
            Job(id="j", kind="capture", payload={}, state="failed", attempts=3, due_at=now, created_at=now)
        )
    served.caller().get("/health")
    found: dict[str, set[str]] = defaultdict(set)
    with following(database, folder):
        text = served.caller().get("/metrics").text
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] |= set(sample.labels)
    served.registry.close()
    return found


@requirement("trust.watched")
def test_every_metric_and_label_of_the_alerts_and_the_dashboard_is_one_that_a_service_tells(
    tmp_path: Path,
) -> None:
    told = exposed(tmp_path / "holdfast.db", tmp_path / "copy")
    known = {"up": set[str](), **told}
    expressions = [rule["expr"] for rule in rules()] + panel_expressions()

    unknown = set()
    for expression in expressions:
        for name, selectors in _SELECTED.findall(expression):
            wanted = set(_LABEL.findall(selectors)) - OF_PROMETHEUS
            unknown |= {name} if name not in known else {f"{name}.{label}" for label in wanted - known[name]}
        grouped = {label.strip() for labels in _GROUPED.findall(expression) for label in labels.split(",")}
        unknown |= grouped - OF_PROMETHEUS - set().union(*known.values())

    assert unknown == set()
    assert sum(len(_SELECTED.findall(expression)) for expression in expressions) > 40
    never_shown = {name for name in told if name.startswith("holdfast_")} - {
        name for expression in expressions for name, _ in _SELECTED.findall(expression)
    }
    assert {name for name in never_shown if not name.endswith("_created")} == set()


@requirement("trust.watched")
def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not_and_is_explained() -> None:
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
    guide = GUIDE.read_text(encoding="utf-8")
    names = [rule["alert"] for rule in rules()]
    used = {name for rule in rules() for name, _ in _SELECTED.findall(rule["expr"])}
    calm, firing = ({row["series"].split("{")[0] for row in case["input_series"]} for case in cases)
    [expected] = cases[1]["promql_expr_test"]

    assert calm == firing == used
    assert [re.findall(r'alertname="(\w+)"', each["labels"]) for each in expected["exp_samples"]] == [
        [name] for name in names
    ]
    assert [name for name in names if f"`{name}`" not in guide] == []
    assert all(rule["annotations"]["summary"] and rule["annotations"]["description"] for rule in rules())


@pytest.mark.agents
@requirement("trust.watched")
def test_each_alert_fires_when_it_has_to_and_only_then(tmp_path: Path) -> None:
    recorded = [
        {"record": f"panel:{at}", "expr": _plain(each)} for at, each in enumerate(panel_expressions())
    ]
    panels = tmp_path / "panels.yml"
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}))

    checked = subprocess.run([promtool(), "check", "rules", ALERTS, panels], capture_output=True, text=True)
    tested = subprocess.run([promtool(), "test", "rules", CASES], capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert tested.returncode == 0, tested.stdout + tested.stderr


def _plain(expression: str) -> str:
    """An expression as Prometheus gets it from Grafana."""
    listed = re.sub(r"label_values\((.*), \w+\)", r"\1", expression)
    return re.sub(r"\$\w+", ".*", listed.replace("$__rate_interval", "1m"))
