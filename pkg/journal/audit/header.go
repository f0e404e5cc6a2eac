package audit

import "encoding/json"

// Header carries the actor from one service to another. Services trust it because of the shared token beside it.
const Header = "Belfry-Actor"

// HeaderValue is the actor as Header carries it; "" for the system.
func (a Actor) HeaderValue() string {
	if a == (Actor{}) {
		return ""
	}
	text, err := json.Marshal(a)
	if err != nil {
		return "" // numbers and strings always encode
	}
	return string(text)
}

// ParseActor reads what HeaderValue wrote.
func ParseActor(text string) (Actor, error) {
	var a Actor
	if text == "" {
		return a, nil
	}
	err := json.Unmarshal([]byte(text), &a)
	return a, err
}
