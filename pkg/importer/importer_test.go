package importer

import (
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/problem"
)

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

func TestRead_ADryRunIsTrueOrFalse(t *testing.T) {
	app := fiber.New()
	for query, want := range map[string]string{
		"": "false", "?dry_run=false": "false", "?dry_run=true": "true", "?dry_run=1": "", "?dry_run=TRUE": "",
		"?dry_run=yes": "", "?dry_run=true%20": "", "?dry_run": "", "?dry_run=": "", "?dry_run=true&dry_run=true": "",
		"?dry_run=false&dry_run=true": "",
	} {
		c := app.AcquireCtx(&fasthttp.RequestCtx{})
		c.Request().SetRequestURI("/api/admin/import/users" + query)
		c.Request().SetBodyString(`{"key":"1"}`)
		b, err := Read(c)
		app.ReleaseCtx(c)
		switch {
		case want == "":
			if !problem.Is(err, problem.Malformed) || problem.As(err).Message != "dry_run is not true or false" {
				t.Errorf("%s: %v", query, err)
			}
		case err != nil || b.DryRun != (want == "true") || len(b.Records) != 1:
			t.Errorf("%s: %+v, %v", query, b, err)
		}
	}
}
