// Your Quoridor bot: it plays random legal moves of its pawn as it stands, and puts no wall; make it win. The types are
// in the package referee/quoridor.
package main

import (
	"math/rand/v2"
	"slices"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/quoridor"
)

const (
	up, right, down, left = 9, 1, -9, -1 // what a step adds to a square
	nowhere               = -1
)

// squareOf is 0 for a1, 1 for b1, 9 for a2; what names no square is nowhere.
func squareOf(name string) int {
	if len(name) != 2 || name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9' {
		return nowhere
	}
	return 9*int(name[1]-'1') + int(name[0]-'a')
}

func nameOf(square int) string {
	return string([]byte{'a' + byte(square%9), '1' + byte(square/9)})
}

type myBot struct {
	luck       *rand.Rand
	me         int    // first is 0, second is 1
	pawns      [2]int // by player
	opensUp    [81]bool
	opensRight [81]bool // whether the step up, or right, from a square is open
}

func newBot(match *referee.Match) quoridor.Bot {
	b := &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0)), pawns: [2]int{4, 76}}
	for square := range 81 {
		b.opensUp[square] = square < 72
		b.opensRight[square] = square%9 < 8
	}
	return b
}

func (b *myBot) Play(id string) quoridor.Action {
	// A wall: {Action: quoridor.PutWall, Position: referee.Some("e3h")}. After an invalid answer of the rival, flip the
	// table to win: {Action: quoridor.Flip}.
	targets := b.targets()
	return quoridor.Action{Action: quoridor.Move, Position: referee.Some(nameOf(targets[b.luck.IntN(len(targets))]))}
}

// Event shows every answer, the rival's and your own, as it was sent: look before you trust Position.
func (b *myBot) Event(event quoridor.ArenaEvent) {
	if event.Player == nil {
		if event.YouAre != nil && *event.YouAre == quoridor.SideSecond {
			b.me = 1
		}
		return
	}
	name, _ := event.Position.(string)
	if len(name) < 2 || squareOf(name[:2]) == nowhere {
		return
	}
	square := squareOf(name[:2])
	switch {
	case event.Action == string(quoridor.Move) && *event.Player == quoridor.SideFirst:
		b.pawns[0] = square
	case event.Action == string(quoridor.Move):
		b.pawns[1] = square
	case event.Action == string(quoridor.PutWall) && square < 72 && name[2:] == "h":
		b.opensUp[square], b.opensUp[square+1] = false, false
	case event.Action == string(quoridor.PutWall) && square < 72:
		b.opensRight[square], b.opensRight[square+9] = false, false
	}
}

// targets are the squares that your pawn may move to: one step on, or past the rival's pawn.
func (b *myBot) targets() []int {
	own, rival := b.pawns[b.me], b.pawns[1-b.me]
	found := []int{}
	for _, step := range []int{up, right, down, left} {
		target := b.beside(own, step)
		if target == rival {
			target = b.beside(rival, step) // the jump
			if target == nowhere {         // to the sides then
				aside := up
				if step == up || step == down {
					aside = right
				}
				found = append(found, b.beside(rival, aside), b.beside(rival, -aside))
			}
		}
		found = append(found, target)
	}
	return slices.DeleteFunc(found, func(target int) bool { return target == nowhere })
}

// beside is the square one step on; nowhere behind a wall or the edge.
func (b *myBot) beside(square, step int) int {
	opens := &b.opensRight
	if step == up || step == down {
		opens = &b.opensUp
	}
	if lower := min(square, square+step); lower >= 0 && opens[lower] {
		return square + step
	}
	return nowhere
}

func main() {
	quoridor.Run("My Quoridor bot", "1", newBot)
}
