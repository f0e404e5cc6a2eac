package fact

import (
	"strconv"

	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Append is form.Append, for a Commitment too.
func Append(b []byte, value any) ([]byte, bool) {
	if c, listed := value.(*Commitment); listed && c != nil {
		return appendCommitment(b, c), true
	}
	return form.Append(b, value)
}

func appendCommitment(b []byte, c *Commitment) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), c.ID, 10)
	b = form.AppendText(append(b, `,"status":`...), c.Status)
	b = strconv.AppendInt(append(b, `,"element_id":`...), c.ElementID, 10)
	b = append(append(b, `,"event":`...), c.Event...)
	for i, id := range c.Involved {
		if i == 0 {
			b = append(b, `,"involved":[`...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	if len(c.Involved) > 0 {
		b = append(b, ']')
	}
	return append(form.AppendDecision(b, c.Decision), '}')
}
