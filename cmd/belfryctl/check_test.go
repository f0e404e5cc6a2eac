package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// The check calls the real services themselves, as within a cluster: over plain http, although cookies are Secure.
func TestCheck(t *testing.T) {
	t.Parallel()
	system := servicetest.Start(t,
		servicetest.Options{Console: true, NoRace: true, Env: map[string]string{"BELFRY_SECURE_COOKIES": "true"}})
	table, err := checkout.Routes()
	errortest.None(t, err)
	args := []string{"check"}
	for _, r := range table.Routes {
		args = append(args, fmt.Sprintf("--route=%s=%s", r.Prefix, system.Replica(r.Service, 0)))
	}
	env := map[string]string{"BELFRY_UUID": system.AdminUUID}
	left := func(when string) {
		t.Helper()
		for _, collection := range []string{"events", "notes"} { // what is deleted leaves a tombstone for a moment
			timetest.Eventually(t, "an end of the "+collection+" after "+when, time.Minute, func() bool {
				n, err := system.DB.Collection(collection).CountDocuments(t.Context(), bson.D{})
				errortest.None(t, err)
				return n == 0
			})
		}
	}

	for range 2 { // the first adds the category that the second finds
		code, out, errs := belfryctl(t, env, args...)
		if code != exitOK || errs != "" || strings.Count(out, "ok      ") != 12 || strings.Contains(out, "FAILED") ||
			strings.Contains(out, "NOTE") {
			t.Fatalf("%d\n%s%s", code, out, errs)
		}
		left("a check that passed")
	}
	if n, err := system.DB.Collection("event_categories").CountDocuments(t.Context(), bson.D{}); n != 1 || err != nil {
		t.Errorf("%d categories, %v", n, err)
	}

	admin := system.Admin(t)
	una := admin.Import(t, "users", object{"key": "u", "name": "Una", "email": "u@school.example"})["u"]
	hall := admin.Import(t, "locations", object{"key": "h", "name": "Hall"})["h"]
	admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", hall, una), nil).Must(t, 200)
	if code, out, _ := belfryctl(t, env, "check", "--url", system.URL); code != exitOK ||
		!strings.Contains(out, "NOTE    no one can decide on 1 elements") {
		t.Errorf("by the front door: %d %s", code, out)
	}
	left("a check by the front door")
	system.Stop(t, "notes")
	code, out, _ := belfryctl(t, env, append(args, "-o=json")...)
	var told check
	errortest.None(t, json.Unmarshal([]byte(out), &told), out)
	last := told.Steps[len(told.Steps)-1]
	if code != exitFailure || told.OK || last.Name != "add a note" || !strings.Contains(last.Error, "503") {
		t.Errorf("without notes: %d %s", code, out)
	}
	left("a check that failed")

	code, out, errs := belfryctl(t, map[string]string{"BELFRY_UUID": "not-the-uuid-of-a-user"}, args...)
	if code != exitFailure || out != "FAILED  log in: POST /api/login: 401 Access denied\n" ||
		errs != "belfryctl: the deployment does not work\n" {
		t.Errorf("a wrong login: %d %q %q", code, out, errs)
	}
	for _, route := range []string{"/api/login=belfry-identity:8080", "/api/login", "/api/login=http://a/b"} {
		office{env: env}.fails(t, exitUsage, "must be such as /=http://", "check", "--route", route)
	}
	code, out, _ = belfryctl(t, env, "check", "--route", "/api/events=http://127.0.0.1:1")
	if code != exitFailure || !strings.Contains(out, "no address is given for /api/login") {
		t.Errorf("a route that is missing: %d %s", code, out)
	}
}
