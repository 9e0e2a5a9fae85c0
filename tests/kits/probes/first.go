package main

import (
	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/count_down"
)

type first struct{ count_down.Base }

func (first) Take(left int) int {
	if left%4 == 0 {
		return 1
	}
	return left % 4
}

func (first) Plan(_ []count_down.Item, _ bool, _ string, _ [][]*count_down.Item, _ count_down.Level,
	_ *count_down.Item) count_down.Plan {
	return count_down.Plan{}
}

func (first) Say(what any) any { return what }

func main() {
	count_down.Run("first", "1", func(*referee.Match) count_down.Bot { return first{} })
}
