package referee

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// What the packages of the games are made of, where encoding/json does not suffice.

// ReadList reads a list of as many items as there are pointers, each into its place.
func ReadList(data []byte, places ...any) error {
	items := append([]any{}, places...)
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	if len(items) != len(places) {
		return fmt.Errorf("a list of %d items; expected %d", len(items), len(places))
	}
	return nil
}

// ReadEvent reads an event into a struct. An event may show what a rival sent, and a rival may send anything. So a
// member of the wrong type stays absent, and only the exact name counts: encoding/json would take PLAYER for player.
func ReadEvent(data []byte, event any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	kind, kept := reflect.TypeOf(event).Elem(), map[string]json.RawMessage{}
	for index := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(index).Tag.Get("json"), ",")
		if value, given := members[name]; given {
			alone, err := json.Marshal(map[string]json.RawMessage{name: value})
			if err == nil && json.Unmarshal(alone, reflect.New(kind).Interface()) == nil {
				kept[name] = value
			}
		}
	}
	whole, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return json.Unmarshal(whole, event)
}

// Each returns the list of what convert makes of the items; nil of nil.
func Each[From, To any](items []From, convert func(From) To) []To {
	if items == nil {
		return nil
	}
	converted := make([]To, len(items))
	for index, item := range items {
		converted[index] = convert(item)
	}
	return converted
}
