package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestSecurityTxt_IsServedFromTheSettingsAndMissingWithoutThem(t *testing.T) {
	const contacts = "mailto:security@school.example,https://school.example/report"
	for _, one := range []struct {
		env  map[string]string
		code int
		body string
	}{
		{nil, http.StatusNotFound, `{"status":"Not found"}`},
		{map[string]string{"BELFRY_SECURITY_CONTACTS": contacts, "BELFRY_SECURITY_EXPIRES": "2027-06-30T00:00:00Z"},
			http.StatusOK, "Contact: mailto:security@school.example\nContact: https://school.example/report\n" +
				"Expires: 2027-06-30T00:00:00Z\n"},
	} {
		system := servicetest.Start(t, servicetest.Options{Services: []string{"identity"}, Env: one.env})
		answer := system.Client(t).Get(t, "/.well-known/security.txt").Must(t, one.code)
		valuetest.Same(t, answer.Body, one.body, "%v", one.env)
		if kind := answer.Header.Get("Content-Type"); one.code == http.StatusOK && kind != "text/plain; charset=utf-8" {
			t.Errorf("the type is %s", kind)
		}
	}
}

func TestSecurityTxt_SettingsAreThoseOfTheStandard(t *testing.T) {
	const expires = "2027-06-30T00:00:00+01:00"
	ten := strings.Split(strings.Repeat("tel:+44-1,", 9)+"https://a.example/", ",")
	for want, s := range map[string]SecurityTxt{
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
	full := SecurityTxt{Contacts: ten, Expires: expires}
	errortest.Report(t, full.Check())
	at := time.Date(2027, 6, 29, 23, 0, 0, 0, time.UTC)
	valuetest.Holds(t, !full.expired(at) && full.expired(at.Add(time.Second)), "it does not expire when it says")
}
