package event

import (
	"strings"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Texts are the texts of an event that clients write. To add one, add a field here, an entry to All, and a line
// wherever the contract's forms show it. Documents, requests, imports, exports, the audit, series, erasure and
// redaction take it from here.
type Texts struct {
	Body string `bson:"body" json:"body"`
}

// Text is one of the texts of an event: its name in the API, and what may stand in it.
type Text struct {
	Name  string
	Value *string
	problem.Text
}

// All returns the texts in the order of the API.
func (t *Texts) All() []Text {
	return []Text{
		{"body", &t.Body, problem.Text{Most: maxBody, Required: true}},
	}
}

// TextNames returns the names of the texts in the API.
func TextNames() []string {
	return sequence.Map((&Texts{}).All(), func(t Text) string { return t.Name })
}

// apply writes the given texts, by name, and adds their faults; a text with a fault stays as it was. A text that is not
// given is empty in a new event.
func (t *Texts) apply(given map[string]string, faults problem.Fields, creating bool) {
	for _, one := range t.All() {
		text, is := given[one.Name]
		if faults[one.Name] != nil || !is && !creating {
			continue
		}
		text = strings.TrimSpace(text)
		if one.Check(faults, one.Name, text); faults[one.Name] == nil {
			*one.Value = text
		}
	}
}
