package importer

import "testing"

func TestHash_IsThatOfTheContent(t *testing.T) {
	hash := func(line string) string {
		t.Helper()
		r, err := parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return r.Hash
	}
	a := hash(`{"key":"1","name":"A","spans":[{"x":1,"y":2}]}`)
	if b := hash(` {"spans":[{"y":2,"x":1}],"name":"A","key":"1"} ` + "\n"); a != b {
		t.Error("the order of fields changes the hash")
	}
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
		if r, err := parse([]byte(line)); err == nil {
			t.Errorf("%s passes as %+v", line, r)
		}
	}
}
