"""The Arena's HTTP interface: tictactoe.md, part C."""
