package api

import (
	"encoding/json"
	"net/url"
)

// undo is the form that takes back what has just been done to an event. It is sealed for the visitor into the address
// of the event's page, which shows it as a button.
type undo struct {
	Done   string // the text done.DONE says what was done
	Form   string // below the event's page
	Fields map[string]string
}

// leaveWithUndo leads to the event's page. Where the way back is too long to be sealed, the page has no button.
func (v *visit) leaveWithUndo(done, form string, fields map[string]string) error {
	return v.leave(v.eventPage("?" + v.undoQuery(done, form, fields)))
}

func (v *visit) undoQuery(done, form string, fields map[string]string) string {
	text, _ := json.Marshal(undo{done, form, fields}) // texts always encode
	return url.Values{"undo": {v.forms.Seal(text, v.cookie())}}.Encode()
}

// readUndo returns what the address of an event's page has, nil without one of this session.
func (v *visit) readUndo() *undo {
	text, ok := v.forms.Open(v.c.Query("undo"), v.cookie())
	var u undo
	if !ok || json.Unmarshal(text, &u) != nil {
		return nil
	}
	return &u
}
