// Prints before it plays, or uses the kit without playing.

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
