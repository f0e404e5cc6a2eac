package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/identity/internal/api"
)

func TestSecurityTxt_IsServedFromTheSettingsAndMissingWithoutThem(t *testing.T) {
	const path = "/.well-known/security.txt"
	system(t).Client(t).Get(t, path).Want(t, http.StatusNotFound, notFound)
	own := servicetest.Start(t, servicetest.Options{Services: []string{"identity"}, Env: map[string]string{
		"BELFRY_SECURITY_CONTACTS": "mailto:security@school.example,https://school.example/report",
		"BELFRY_SECURITY_EXPIRES":  "2027-06-30T00:00:00Z"}})
	answer := own.Client(t).Get(t, path)
	answer.Want(t, http.StatusOK, "Contact: mailto:security@school.example\n"+
		"Contact: https://school.example/report\nExpires: 2027-06-30T00:00:00Z\n")
	valuetest.Same(t, answer.Header.Get("Content-Type"), "text/plain; charset=utf-8", "its type")
}

func TestSecurityTxt_SettingsAreThoseOfTheStandard(t *testing.T) {
	const expires = "2027-06-30T00:00:00+01:00"
	ten := strings.Split(strings.Repeat("tel:+44-1,", 9)+"https://a.example/", ",")
	for want, s := range map[string]api.SecurityTxt{
		"":                                {},
		"is needed with contacts":         {Contacts: []string{"mailto:a@a.example"}},
		"is nothing without contacts":     {Expires: expires},
		"has at most ten contacts":        {Contacts: append(ten, "tel:1"), Expires: expires},
		"has a scheme":                    {Contacts: []string{"a@a.example"}, Expires: expires},
		"is no http":                      {Contacts: []string{"http://a.example"}, Expires: expires},
		"has a host":                      {Contacts: []string{"https:/report"}, Expires: expires},
		"is one address":                  {Contacts: []string{"mailto:a@a.example b"}, Expires: expires},
		"expires at a time, not on a day": {Contacts: []string{"tel:1"}, Expires: "2027-06-30"},
	} {
		err := s.Check()
		valuetest.Same(t, err != nil, want != "", "%q: %v", want, err)
	}
	full := api.SecurityTxt{Contacts: ten, Expires: expires}
	errortest.Report(t, full.Check())
	at := time.Date(2027, 6, 29, 23, 0, 0, 0, time.UTC)
	valuetest.Holds(t, !full.Expired(at) && full.Expired(at.Add(time.Second)), "it does not expire when it says")
}
