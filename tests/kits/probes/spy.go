// Answers with the members of the last event; - for an absent one.

package main

import (
	"fmt"
	"strings"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/tictactoe"
)

type spy struct{ heard string }

func text[T any](member *T) any {
	if member == nil {
		return nil
	}
	return *member
}

func (s *spy) Event(e tictactoe.ArenaEvent) {
	heard := []string{}
	for _, member := range []any{text(e.YouAre), text(e.ID), text(e.Player), e.Action, e.Position, text(e.Winner)} {
		shown := strings.Replace(fmt.Sprint(member), "map[]", "{}", 1)
		heard = append(heard, strings.Replace(shown, "<nil>", "-", 1))
	}
	s.heard = strings.Join(heard, " ")
}

func (s *spy) Play(id string) tictactoe.Action { return tictactoe.Action{Action: tictactoe.ActionType(s.heard)} }

func main() { tictactoe.Run("Spy", "1", func(*referee.Match) tictactoe.Bot { return &spy{} }) }
