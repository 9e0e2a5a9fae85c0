package reantics

import (
	"encoding/json"
	"testing"

	referee "github.com/OWNER/referee/starter_kits/go"
)

const state = `{"phase":3,"whoseTurn":1,"newer":{},"inventories":[
	{"player":0,"foodCount":1,
	 "ants":[{"id":2,"coords":[4,8],"type":1,"player":0,"health":4,"carrying":false,"hasMoved":false}],
	 "constrs":[{"coords":[4,8],"type":-3,"player":0,"captureHealth":2,"movementCost":1}]},
	{"player":1,"foodCount":1,"ants":[],"constrs":[]},
	{"player":2,"foodCount":0,"ants":[],"constrs":[{"coords":[9,6],"type":-2,"movementCost":2}]}],
	"board":[[null,{"ant":2,"constr":-3},{"constr":-1}]]}`

func read(t *testing.T, text string) (state GameState) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		t.Fatal(err)
	}
	return state
}

func TestTheStateOfTheDocumentIsRead(t *testing.T) {
	state := read(t, state)
	if ant := state.Inventories[0].Ants[0]; ant.Coords != (Coord{X: 4, Y: 8}) || ant.Health != 4 {
		t.Error(ant)
	}
	if *state.Inventories[0].Constrs[0].CaptureHealth != 2 || state.Inventories[2].Constrs[0].Player != nil {
		t.Error("a building has an owner, grass has none")
	}
	if row := state.Board[0]; row[0] != nil || *row[1].Ant != 2 || row[2].Ant != nil || *row[2].Constr != -1 {
		t.Error("an empty tile is nil")
	}
}

func TestWithoutABoardThereIsNone(t *testing.T) {
	if state := read(t, `{"phase":1,"whoseTurn":0,"inventories":[]}`); state.Board != nil {
		t.Error(state.Board)
	}
}

func TestACoordinateHasTwoNumbers(t *testing.T) {
	for text, words := range map[string]string{
		"[1]": "a list of 1 items; expected 2", "[1,2,3]": "a list of 3 items; expected 2", "null": "a list of 0 items; expected 2",
		`[1,"2"]`: "json: cannot unmarshal string into Go value of type int",
	} {
		var tile Coord
		if err := json.Unmarshal([]byte(text), &tile); err == nil || err.Error() != words {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMovesAreWrittenAsTheDocumentShowsThem(t *testing.T) {
	for wanted, move := range map[string]Move{
		`{"moveType":2}`: {MoveType: End},
		`{"moveType":0,"coordList":[[4,1],[4,2],[5,2]]}`:   {CoordList: []Coord{{X: 4, Y: 1}, {X: 4, Y: 2}, {X: 5, Y: 2}}},
		`{"moveType":1,"coordList":[[0,3]],"buildType":3}`: {Build, []Coord{{X: 0, Y: 3}}, referee.Some(Soldier)},
	} {
		if text, err := json.Marshal(move); string(text) != wanted || err != nil {
			t.Errorf("%s, not %s: %v", text, wanted, err)
		}
	}
}
