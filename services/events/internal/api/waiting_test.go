package api_test

import (
	"strings"
	"testing"
)

func TestDecisionsPart5_ListingsOfWhatWaitsRefuseWhatTheyCantRead(t *testing.T) {
	c := loadSchool(t).as(t, "keeper")
	for _, query := range []string{
		"commitments?status=maybe", "commitments?status=requested,", "commitments?limit=0", "commitments?limit=1001",
		"commitments?after=7", "commitments?after=1.2",
		"commitments?after=a.1.1", "commitments?after=1.0.1", "commitments?after=1.1.-1",
		"commitments?after=9223372036854775807.1.1",
		"requests?status=requested", "requests?limit=x", "requests?after=1.1.1.1",
	} {
		if a := c.Get(t, "/api/"+query); a.Code != 400 || !strings.HasPrefix(a.Body, `{"status":"Bad request"`) {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	system(t).Client(t).Get(t, "/api/commitments").Want(t, 401, `{"status":"Access denied"}`)
}
