package importer

import (
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
