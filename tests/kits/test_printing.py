"""Prints of a bot before it plays, and of a program that uses a kit without playing."""

import subprocess

import pytest
from conformance import INITIALIZE
from kits import WriteBot

from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import environment
from referee.protocol.codec import JSON

PROGRAMS = {
    "c": """
#include <referee/tictactoe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static tictactoe_action play(referee_match* match, const char* id) {
    return (void)match, (void)id, (tictactoe_action){TICTACTOE_ACTION_TYPE_FLIP};
}

int main(void) {
    printf("buffered");
    if (getenv("ONLY_USES_THE_KIT")) return 0;
    if (getenv("AT_ONCE")) fflush(stdout), write(1, "+ at once", 9);
    return tictactoe_run(&(tictactoe_bot){.name = "Prints", .play = play});
}
""",
    "cpp": """
#include <referee/tictactoe.hpp>
#include <cstdlib>
#include <iostream>

struct Prints : referee::tictactoe::TicTacToeBot {
    using TicTacToeBot::TicTacToeBot;
    referee::tictactoe::Action play(const std::string&) override { return {referee::tictactoe::ActionType::FLIP}; }
};

int main() {
    std::cout << "buffered";
    if (std::getenv("ONLY_USES_THE_KIT")) return 0;
    if (std::getenv("AT_ONCE")) std::cout << "+ at once" << std::endl;
    return referee::run<Prints>("Prints");
}
""",
    "go": """
package main

import (
	"fmt"
	"os"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/tictactoe"
)

type prints struct{}

func (prints) Event(tictactoe.ArenaEvent) {}

func (prints) Play(string) tictactoe.Action { return tictactoe.Action{} }

func main() {
	if os.Getenv("ONLY_USES_THE_KIT")+os.Getenv("AT_ONCE") != "" {
		fmt.Print("buffered+ at once")
	}
	if os.Getenv("ONLY_USES_THE_KIT") == "" {
		tictactoe.Run("Prints", "1", func(*referee.Match) tictactoe.Bot { return prints{} })
	}
}
""",
    "java": """
import referee.kit.Match;
import referee.kit.tictactoe.TicTacToeBot;

public class Prints extends TicTacToeBot {
    public Prints(Match match) { super(match); }

    public static void main(String[] args) {
        new Prints(null); // the kit is loaded
        if (System.getenv("ONLY_USES_THE_KIT") != null || System.getenv("AT_ONCE") != null) {
            System.out.print("buffered+ at once");
        }
        if (System.getenv("ONLY_USES_THE_KIT") == null) {
            run(Prints::new);
        }
    }

    @Override public Action play(String id) { return null; }
}
""",
    "javascript": """
import { run, TicTacToeBot } from "referee-kit/tictactoe";

class Prints extends TicTacToeBot {}

if (process.env.ONLY_USES_THE_KIT || process.env.AT_ONCE) console.log("buffered+ at once");
if (!process.env.ONLY_USES_THE_KIT) run(Prints);
""",
    "python": """
import os
from referee_kit.tictactoe import TicTacToeBot, run

class Prints(TicTacToeBot):
    pass

print("buffered", end="")
if "AT_ONCE" in os.environ:
    print("+ at once", flush=True)
if "ONLY_USES_THE_KIT" not in os.environ:
    run(Prints)
""",
    "rust": """
use referee_kit::tictactoe::*;
use referee_kit::Match;
use std::env::var_os;

struct Prints;

impl TicTacToeBot for Prints {
    fn new(_info: Match) -> Self {
        Prints
    }

    fn play(&mut self, _id: String) -> Action {
        Action::new(ActionType::Flip)
    }
}

fn main() {
    print!("buffered");
    if var_os("AT_ONCE").is_some() {
        println!("+ at once");
    }
    if var_os("ONLY_USES_THE_KIT").is_none() {
        run::<Prints>("Prints");
    }
}
""",
}

GREETING = JSON.frame(
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {**INITIALIZE, "game": "tictactoe", "encodings": ["json"]},
    }
)


@pytest.fixture
def program(kit: str, written: WriteBot) -> Entrant:
    return written(kit, "Prints", PROGRAMS[kit])


def run(program: Entrant, given: bytes, env: dict[str, str]) -> tuple[bytes, bytes]:
    """Runs a program; returns its standard output and standard error."""
    done = subprocess.run(
        program.argv, input=given, env=env, cwd=program.cwd, capture_output=True, timeout=60, check=True
    )
    return done.stdout, done.stderr


def alone() -> dict[str, str]:
    """Returns the environment of a program that is not started by the referee."""
    return {name: value for name, value in environment().items() if name != "REFEREE_BOT"}


def test_a_program_that_runs_no_bot_keeps_its_standard_output(program: Entrant) -> None:
    """For example in `echo | python uses_the_kit.py | cat`."""
    env = alone() | {"ONLY_USES_THE_KIT": "1"}
    stdout, _ = run(program, b"\n", env)
    assert stdout.startswith(b"buffered")


@pytest.mark.parametrize("kit", sorted({*PROGRAMS} - {"rust"}), indirect=True)
def test_under_the_referee_no_print_before_run_reaches_the_wire(program: Entrant) -> None:
    stdout, stderr = run(program, GREETING, environment() | {"AT_ONCE": "1"})
    assert (stdout.count(b"\n"), b"at once" in stdout) == (1, False)
    assert b"buffered+ at once" in stderr


BUFFERED = ("c", "cpp", "python", "rust")
"""Languages with buffered prints."""


def test_buffered_prints_never_reach_the_wire(kit: str, program: Entrant) -> None:
    stdout, stderr = run(program, GREETING, alone())
    assert stdout.startswith(b'{"') and stdout.count(b"\n") == 1
    assert (b"buffered" in stderr) == (kit in BUFFERED)
