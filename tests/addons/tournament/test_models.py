"""Language models in tournaments, gates and series: tokens, cost and illegal answers beside strength."""

import csv
import io
import json
import re
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from model_service import Act, ModelService, Request, serving

from referee.addons.tournament.store import reader
from referee.harness.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked")]

KEY, VARIABLE = "sk-secret/0123456789", "STUB_KEY"
GAME = ("--game", "connectfour", "--seed", "7", "--isolation", "off", "--jobs", "1")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelService]:
    """A service whose first completion has no answer. A completion costs 0.011 dollars at 100 for a million."""
    monkeypatch.setenv(VARIABLE, KEY)
    with serving(lambda request: request.say("no")) as one:
        yield one


def priced(service: ModelService) -> str:
    return service.spec(f"--price 100 --key-from {VARIABLE}")


def test_a_tournament_shows_tokens_cost_and_illegal_answers_and_stops_at_its_cost(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cup, site = tmp_path / "cup", tmp_path / "site"
    words = ["--games", "8", "--ledger", str(cup), "--max-cost", "0.1", "--transcripts"]
    assert main(["tournament", "run", priced(service), "@random", *GAME, *words]) == 4
    output = capfd.readouterr()
    assert f"stopped by --max-cost; continue with: referee tournament run {cup} --max-cost 0.2\n" in output.err
    stopped = reader.read(cup)
    assert 0 < stopped.count < 8
    assert stopped.cost == pytest.approx(0.011 * len(service.requests))
    assert stopped.cost >= 0.1

    assert main(["tournament", "run", str(cup)]) == 0
    capfd.readouterr()
    assert main(["tournament", "show", str(cup), "--output", "csv"]) == 0
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(capfd.readouterr().out))}
    count = len(service.requests)
    model = rows["stub"]
    assert (model["prompt_tokens"], model["completions"], model["illegal"]) == (str(100 * count), str(count), "1")
    assert float(model["cost"]) == pytest.approx(0.011 * count)
    assert rows["'@random"]["completions"] == ""

    assert main(["tournament", "show", str(cup), "--output", "markdown"]) == 0
    assert f"| {110 * count:,} | ${0.011 * count:.4f} | {1 / count:.1%} |" in capfd.readouterr().out
    assert main(["tournament", "page", str(cup), "--to", str(site)]) == 0
    assert f"{110 * count:,}" in (site / "index.html").read_text()
    assert main(["tournament", "show", str(cup), "--sqlite", str(tmp_path / "cup.db")]) == 0
    with sqlite3.connect(tmp_path / "cup.db") as database:
        assert database.execute("SELECT SUM(completions), SUM(illegal) FROM seats").fetchone() == (count, 1)

    replays = [reader.replay(cup, file, line) or b"" for file, line in reader.counted_lines(cup)]
    assert any(b'"transcript"' in replay for replay in replays)
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(KEY.encode() in content for content in [*written, *replays])
    assert {headers["Authorization"] for headers in service.headers} == {f"Bearer {KEY}"}


def test_a_gate_stops_at_its_cost_and_shows_both_models(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    models = priced(service), service.spec("--price 1 --rethinks 0")
    words = ["--max-games", "100", "--max-cost", "0.15", "--json", "--ledger", str(tmp_path / "gate")]
    assert main(["gate", *models, *GAME, *words]) == 4
    report = json.loads(capfd.readouterr().out)
    new, old = report["model_new"], report["model_old"]
    assert 0.15 <= new["cost"] + old["cost"] < 1
    assert new["completions"] + old["completions"] == len(service.requests)
    assert report["games"] + report["surplus"] < 100


def test_a_tuning_stops_at_its_cost_before_the_gate(service: ModelService, capfd: pytest.CaptureFixture[str]) -> None:
    bot = service.spec("--price 100 --temperature {warmth}")
    words = ["--param", "warmth=0:1", "--games", "100", "--max-cost", "0.1"]
    assert main(["tune", bot, *GAME, *words]) == 4
    output = capfd.readouterr()
    cost = re.search(r"stopped by --max-cost: the tuning has cost \$([0-9.]+), and no gate is played", output.err)
    assert cost is not None and float(cost[1]) == pytest.approx(0.011 * len(service.requests), abs=0.0051)  # in cents
    assert "tuned   warmth=" in output.out and float(cost[1]) < 1


def test_a_cost_limit_needs_prices(service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--ledger", str(tmp_path / "cup"), "--max-cost", "1"]
    assert main(["tournament", "run", service.spec(), "@random", *GAME, *words]) == 2
    assert "--max-cost 1 needs the price of stub: llm:--price IN/OUT" in capfd.readouterr().err
    assert service.requests == []


def test_a_service_that_cannot_be_used_ends_a_tournament_in_good_order(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(*[lambda request: request.fail(401, f"bad key {KEY}")] * 9) as refusing:
        words = ["--games", "4", "--ledger", str(tmp_path / "cup")]
        assert main(["tournament", "run", refusing.spec(), "@random", *GAME, *words]) == 3
    assert "stub cannot play: the service at" in capfd.readouterr().err
    assert reader.read(tmp_path / "cup").count == 0


def out_of_money(after: int) -> list[Act]:
    refused = partial(Request.fail, status=429, text="You exceeded your quota", code="insufficient_quota")
    return [*[Request.play] * after, refused]


def test_a_service_without_money_ends_a_tournament_which_keeps_its_games_and_says_how_to_go_on(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    service.acts = tuple(out_of_money(24))
    cup = tmp_path / "cup"
    assert main(["tournament", "run", service.spec(), "@random", *GAME, "--games", "8", "--ledger", str(cup)]) == 3
    error = capfd.readouterr().err
    assert "stub cannot play on: the service at" in error and "You exceeded your quota" in error
    kept = reader.read(cup).count
    assert 0 < kept < 8
    assert f"{kept} games so far are kept; continue with: referee tournament run {cup}\n" in error
    service.acts = ()
    assert main(["tournament", "run", str(cup)]) == 0
    assert "faults" not in capfd.readouterr().err
    assert reader.read(cup).count == 8


def test_a_service_without_money_ends_a_gate_without_a_decision(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    service.acts = tuple(out_of_money(60))
    words = ["gate", service.spec(), "@random", *GAME, "--ledger", str(tmp_path / "gate")]
    assert main(words) == 3
    output = capfd.readouterr()
    assert "faults new 0" in output.out and "rejected" not in output.out
    assert f"continue with: the same command with --ledger {tmp_path / 'gate'} --resume" in output.err


def test_the_last_game_is_not_said_to_be_stopped_by_its_cost(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--format", "swiss", "--rounds", "1", "--ledger", str(tmp_path / "cup"), "--max-cost", "0.15"]
    assert main(["tournament", "run", priced(service), "@random", *GAME, *words]) == 0
    assert "stopped by" not in capfd.readouterr().err


def test_a_series_shows_each_match_and_their_sum(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--games", "2", "--replay", str(tmp_path / "match.jsonl"), "--json"]
    assert main(["play", priced(service), "@random", *GAME, *words]) == 0
    outcome = json.loads(capfd.readouterr().out)
    line = outcome["standings"][0]["model"]
    assert line["completions"] == len(service.requests)
    assert line["illegal"] == 1
    assert outcome["standings"][1]["model"] is None


def test_a_verdict_says_what_a_model_has_used_and_whether_its_time_was_charged(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--replay", str(tmp_path / "match.jsonl")]
    assert main(["play", service.spec("--price 1/2"), "@random", *GAME[:-2], *words]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    count = len(service.requests)
    assert f"stub: {100 * count:,} tokens in, {10 * count} out, $0.00" in shown
    assert f"1 of {count} completions illegal; its service took" in shown
    assert "which was not charged" in shown
    assert main(["play", service.spec(), "@random", *GAME[:-2], *words, "--limit", "model_clock=on"]) == 0
    assert "which was charged" in " ".join(capfd.readouterr().out.split())


def test_requests_of_a_worker_have_the_seed_of_the_game(service: ModelService, tmp_path: Path) -> None:
    service.acts = (Request.play,)
    words = ["--games", "2", "--ledger", str(tmp_path / "cup"), "--replay", "none"]
    assert main(["tournament", "run", service.spec(), "@random", *GAME, *words]) == 0
    assert len({body["seed"] for body in service.requests}) == 2
