from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import CommandError, Float, HTMLReport, Int, Study, minimize

SPACE = {"x": Float(0, 1), "n": Int(1, 3)}


def bowl(params: dict[str, float]) -> float:
    if params["x"] > 0.95:
        raise RuntimeError("too hot <b>")
    return (params["x"] - 0.3) ** 2 + params["n"]


def check(report: HTMLReport) -> None:
    """Requires a page and its frame."""
    assert report.html.startswith("<!DOCTYPE html>\n<!-- bo report -->")
    frame = report._repr_html_()
    assert frame.startswith("<iframe title=")
    assert 'sandbox="allow-scripts"' in frame
    page = frame.split('srcdoc="', 1)[1].split('"', 1)[0]
    assert html.unescape(page) == report.html
    assert len(frame) < 3e6


def test_a_report_of_a_result(tmp_path: Path) -> None:
    result = minimize(bowl, SPACE, budget=10, progress=False, seed=3)
    table = result._repr_html_()
    assert table.startswith("<table>")
    assert "in trial" in table
    report = result.html_report()
    check(report)
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html


def test_a_report_of_a_study_with_every_state() -> None:
    with Study(SPACE, budget=20, stop={"rule": "median", "startup": 1}) as study:
        first, second, third, fourth = study.ask(4)
        for step in (1, 2, 3):
            study.report(first, step, 1 / step)
        study.tell(first, 0.3)
        study.fail(second, "</script><script>alert(1)</script>")
        assert study.report(third, 1, 9.0)
        study.report(fourth, 1, float("nan"))
        assert "1 failed" in study._repr_html_()
        check(study.html_report())


def test_a_report_without_trials() -> None:
    with Study(SPACE) as study:
        assert "trials" in study._repr_html_()
        check(study.html_report())


def test_a_report_of_several_objectives() -> None:
    result = minimize(
        lambda p: {"a": p["x"], "b": 1 - p["x"]},
        SPACE,
        objectives=[{"name": "a"}, {"name": "b"}],
        budget=8,
        progress=False,
    )
    assert "minimize a, minimize b" in result._repr_html_()
    check(result.html_report())


def test_a_report_of_a_stored_study(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "a.study", SPACE, budget=9)
    for trial in study.ask(5):
        study.tell(trial, bowl({**trial.params, "x": 0.5 * trial.params["x"]}))
    assert "a.study" in study._repr_html_()
    check(study.html_report(maps=["n", "x"]))
    with pytest.raises(CommandError, match='no parameter "y"'):
        study.html_report(maps=["x", "y"])


def test_the_table_of_a_stored_study_leaves_out_points_outside_the_space(tmp_path: Path) -> None:
    earlier: Any = [{"params": {"x": 0.1}, "value": 1}, {"params": {"x": 5}, "value": -100}]
    warning = "earlier: 1 of 2 evaluations are left out of fits and of the best trial"
    with pytest.warns(UserWarning, match=warning):
        study = Study.create(tmp_path / "bo.db", "demo", {"x": Float(0, 1)}, earlier=earlier)
    assert "1 in trial 1<" in study._repr_html_()
    assert "trials" in Study.create(tmp_path / "bo.db", "empty", SPACE)._repr_html_()


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
@pytest.mark.parametrize("step", [float("nan"), float("inf"), -float("inf"), 2e300])
def test_a_report_with_steps_that_are_no_numbers(goal: Any, step: float) -> None:
    with Study({"x": Float(0, 1)}, goal=goal, stop="median") as study:
        for i, trial in enumerate(study.ask(3)):
            study.report(trial, 1, step if i == 1 else 0.5)
            study.report(trial, 2, 0.4)
            study.tell(trial, 0.3)
        check(study.html_report())
