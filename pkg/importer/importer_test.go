package importer

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestHash_IsThatOfTheContent(t *testing.T) {
	hash := func(line string) string {
		t.Helper()
		r, err := parse([]byte(line))
		errortest.None(t, err)
		return r.Hash
	}
	a := hash(`{"key":"1","name":"A","spans":[{"x":1,"y":2}]}`)
	valuetest.Same(t, a, hash(` {"spans":[{"y":2,"x":1}],"name":"A","key":"1"} `+"\n"),
		"the order of fields changes the hash")
	if b := hash(`{"key":"1","name":"B","spans":[{"x":1,"y":2}]}`); a == b {
		t.Error("another name has the same hash")
	}
	if hash(`{"key":"1","n":9007199254740993}`) == hash(`{"key":"1","n":9007199254740992}`) {
		t.Error("large numbers are rounded")
	}
}

func TestParse_RefusesWhatIsNoRecord(t *testing.T) {
	for _, line := range []string{`[]`, `{`, `{}`, `{"key":""}`, `{"key":null}`, `{"key":5}`, "{\"key\":\"\xff\"}",
		`{"key":"1"} x`} {
		r, err := parse([]byte(line))
		errortest.Some(t, err, "%s passes as %+v", line, r)
	}
}

// FuzzParse checks that the hash depends on the content only: it is the same in any notation, and differs when a
// field is added.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"key":"1"}`, ` {"name":"A","key":"1","spans":[{"x":1,"y":null}]} ` + "\n",
		`{"key":"1","n":9007199254740993,"m":1e400}`, `{"key":"a","key":"b"}`,
		`{"key":""}`, `{"key":5}`, `{"key":"1"} x`, `{"key":"\ud800<\u2028"}`, `{"KEY":"1"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parse(line)
		if err != nil {
			return
		}
		var content map[string]any
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		errortest.None(t, decoder.Decode(&content), "%q is no object, but passes", line)
		valuetest.MustHold(t, r.Key == content["key"] && r.Key != "", "%q has the key %q", line, r.Key)
		written, err := json.MarshalIndent(content, " ", "\t")
		errortest.None(t, err)
		if again, err := parse(written); err != nil || again.Hash != r.Hash || again.Key != r.Key {
			t.Fatalf("%q, written as %s, is another: %+v, %v", line, written, again, err)
		}
		content["\x00 added"] = nil
		written, err = json.Marshal(content)
		errortest.None(t, err)
		if more, err := parse(written); err != nil || (more.Hash == r.Hash && len(more.Fields) != len(r.Fields)) {
			t.Fatalf("%q has the hash of %s, %v", line, written, err)
		}
	})
}
