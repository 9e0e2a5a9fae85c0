package tictactoe

import (
	"reflect"
	"testing"

	referee "github.com/OWNER/referee/starter_kits/go"
)

func shown(t *testing.T, text string) ArenaEvent {
	t.Helper()
	var event ArenaEvent
	if err := referee.ReadEvent([]byte(text), &event); err != nil {
		t.Fatal(err)
	}
	return event
}

func TestAnEventMayShowAnything(t *testing.T) {
	for text, value := range map[string]any{
		"null": nil, "7": 7.0, "1e300": 1e300, `"SE"`: "SE", "[]": []any{}, `{"a":[null]}`: map[string]any{"a": []any{nil}},
	} {
		event := shown(t, `{"player":"X","action":`+text+`,"position":`+text+`}`)
		if *event.Player != SymbolX || !reflect.DeepEqual(event.Action, value) || !reflect.DeepEqual(event.Position, value) {
			t.Errorf("%s: %v", text, event)
		}
	}
	if event := shown(t, `{"player":"X","winner":5,"youAre":{},"id":[]}`); event.Winner != nil || event.YouAre != nil {
		t.Errorf("a rival's nonsense: %v", event)
	}
	if event := shown(t, `{"action":"(\u256f\u00b0\u25a1\u00b0)\u256f\ufe35 \u253b\u2501\u253b"}`); event.Action != string(Flip) {
		t.Errorf("a flip: %v", event)
	}
	if event := shown(t, `{"player":"X","PLAYER":"O","Winner":"O"}`); *event.Player != SymbolX || event.Winner != nil {
		t.Errorf("a rival's members: %v", event)
	}
}
