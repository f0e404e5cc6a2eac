package outbox

import (
	"fmt"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// FuzzParse holds that a message that was read, written again, is read as the same: what lies in Redis may be of any
// release, or of no release.
func FuzzParse(f *testing.F) {
	f.Add("1", "event.deleted", "12", "2026-09-07T08:00:00.5Z", "00-a-b-01")
	f.Add("", "k", "1", "2026-09-07T08:00:00Z", "")
	f.Add("1", "k", "9223372036854775808", "2026-09-07T08:00:00+23:59", "")
	f.Add("1", "k", "-1", "0000-01-01T00:00:00Z", "\x00")
	f.Fuzz(func(t *testing.T, id, kind, subject, at, trace string) {
		m, err := parse(map[string]any{"id": id, "kind": kind, "subject": subject, "at": at, "traceparent": trace,
			"more": 1})
		if err != nil {
			return
		}
		valuetest.MustHold(t, m.ID == id && m.Kind == kind && m.Trace == trace && id != "" && kind != "", "%+v", m)
		if y := m.At.UTC().Year(); y < 0 || y > 9999 {
			return // what no clock says, and no time can be written as
		}
		written := m.values()
		written["subject"] = fmt.Sprint(written["subject"]) // as Redis has it
		again, err := parse(written)
		if err != nil || again.ID != m.ID || again.Subject != m.Subject || !again.At.Equal(m.At) {
			t.Fatalf("%+v, %v, before %+v", again, err, m)
		}
	})
}
