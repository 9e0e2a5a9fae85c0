package shapes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	referee "github.com/OWNER/referee/starter_kits/go"
)

type bot struct{ Base }

func (bot) Look(all Everything, cards []Card, type_ *int) []Order {
	orders := []Order{nil, Wait{}}
	for _, card := range cards {
		switch card := card.(type) {
		case Minion:
			rate, speed := float64(card.Health), RSlow
			orders = append(orders, Wait{Rate: &rate, Speed: &speed, Extra: []any{card.Type}})
		case Spell:
			orders = append(orders, Go{To: *card.At, Why: referee.Some("why")})
		}
	}
	return orders
}

func (bot) Range(map_ [][]float64) Listed {
	if len(map_) == 0 {
		return Listed{Action: Size}
	}
	return Listed{int(map_[0][0]), []int{}, Tile{Row: 1, Col: 2}}
}

const everything = `{"number":1,"rate":2,"truth":true,"text":"x","value":{"a":null},"tile":[3,4],
	"card":{"health":5,"type":"minion"},"hand":[null,{"type":"spell","at":[6,7]},{"type":"spell"}],"grid":[[null,[8,9]],[]],"three":[0.5,1,1.5],
	"point":["p",[1,2.5]],"left":null,"speeds":[2,1,7],"side":"draw","newer":[1]}`

const nonsense = `{"NUMBER":7,"number":1,"rate":"x","truth":true,"text":"x","tile":[3],"card":{"type":"dragon"},
	"hand":[{"type":"minion","health":0.5}],"grid":[[["a"]]],"point":{"name":1},"left":0.5,"speeds":["x"],"side":4}`

func TestEverythingIsRead(t *testing.T) {
	var all Everything
	if err := referee.ReadEvent([]byte(everything), &all); err != nil {
		t.Fatal(err)
	}
	equal(t, "1 2 true x map[a:<nil>]", all.Number, all.Rate, all.Truth, all.Text, all.Value)
	equal(t, "{3 4} {minion 5} {8 9}", *all.Tile, all.Card, *all.Grid[0][1])
	equal(t, "[0.5 1 1.5] {p [1 2.5]}", all.Three, *all.Point)
	equal(t, "[RSlow Fast Speed(7)] draw true", all.Speeds, *all.Side, *all.Side == SideDraw)
	first, second, third := all.Hand[0], all.Hand[1].(Spell), all.Hand[2].(Spell)
	equal(t, "<nil> {6 7} true true", first, *second.At, third.At == nil, all.Left == nil)
	equal(t, "true 1", all.Grid[0][0] == nil, map[Tile]int{*all.Tile: 1}[Tile{Row: 3, Col: 4}])
}

func TestNonsenseInAnEventReadsAsAbsent(t *testing.T) {
	var all Everything
	if err := referee.ReadEvent([]byte(nonsense), &all); err != nil {
		t.Fatal(err)
	}
	equal(t, "1 0 <nil> <nil> [] true", all.Number, all.Rate, all.Value, all.Card, all.Hand, all.Three == nil)
	equal(t, "true true true true", all.Tile == nil, all.Point == nil, all.Left == nil, all.Grid == nil)
	equal(t, "true true", all.Speeds == nil, all.Side == nil)
}

// listening answers a call with what it sees.
type listening struct{ bot }

func (listening) Look(all Everything, cards []Card, type_ *int) []Order {
	panic(fmt.Sprint(all.Card, cards, *type_))
}

func TestACallIsReadWithItsUnions(t *testing.T) {
	defer func() { equal(t, "{minion 5} [{spell <nil>} {minion 2}] 3", recover()) }()
	look := `{"all":` + everything + `,"cards":[{"type":"spell"},{"health":2,"type":"minion"}],"type":3}`
	_, err := untyped{listening{}}.Answer("look", []byte(look))
	t.Error(err)
}

func TestNonsenseInACallIsAnError(t *testing.T) {
	for params, words := range map[string]string{
		`{"type":"x"}`:                  "json: cannot unmarshal string into Go struct field .type of type int",
		`{"cards":[{"type":"dragon"}]}`: `no Card has the type "dragon"`,
		`{"all":{"point":["p"]}}`:       "a list of 1 items; expected 2",
	} {
		if _, err := (untyped{bot{}}).Answer("look", []byte(params)); err == nil || err.Error() != words {
			t.Errorf("%s: %v", params, err)
		}
	}
}

func TestAnswersAreWritten(t *testing.T) {
	cards := []Card{Minion{Type: "minion", Health: 7}, Spell{At: &Tile{Row: 1, Col: 2}}}
	orders := (bot{}).Look(Everything{}, cards, nil)
	text, err := json.Marshal([]any{orders, bot{}.Range(nil), bot{}.Range([][]float64{{4}})})
	if err != nil {
		t.Fatal(err)
	}
	expected := `null,{"kind":"wait"},{"kind":"wait","rate":7,"speed":2,"extra":["minion"]},` +
		`{"kind":"go","to":[1,2],"why":"why"}`
	equal(t, "[["+expected+`],[3,null,[0,0]],[4,[],[1,2]]]`, string(text))
	equal(t, "3 0.5 a [4 5] [a b] [1 0.5]", Size, Rate, Name, Sizes, Names, Rates)
}

func equal(t *testing.T, expected string, got ...any) {
	t.Helper()
	if text := strings.TrimSuffix(fmt.Sprintln(got...), "\n"); text != expected {
		t.Errorf("got %s, expected %s", text, expected)
	}
}

var _ Bot = bot{}
