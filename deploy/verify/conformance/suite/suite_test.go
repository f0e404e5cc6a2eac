package suite_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/belfry-schools/belfry/deploy/verify/conformance/suite"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// system is two replicas of every service.
var system *servicetest.System

func TestMain(m *testing.M) {
	os.Exit(servicetest.Run(m, servicetest.Options{Replicas: 2}, func(s *servicetest.System) { system = s }))
}

// TestContract runs each check as a subtest of its name. The checks that may are run four at a time, as in RunAll.
func TestContract(t *testing.T) {
	session, err := suite.Open(t.Context(), suite.Options{URL: system.URL, AdminUUID: system.AdminUUID, Observe: asDocumented})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("together", func(t *testing.T) { runChecks(t, session, false) })
	t.Run("alone", func(t *testing.T) { runChecks(t, session, true) })
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// asDocumented holds every exchange to the OpenAPI document.
func asDocumented(e suite.Exchange) error {
	err := apidoctest.Check(apidoctest.Exchange{Request: e.Request, Body: e.Sent, Code: e.Code, Header: e.Header, Answer: e.Answer})
	if err != nil {
		return fmt.Errorf("not as the interface's document says: %w", err)
	}
	return nil
}

func runChecks(t *testing.T, session *suite.Session, alone bool) {
	for _, check := range suite.Checks() {
		if check.Alone != alone {
			continue
		}
		t.Run(check.Name, func(t *testing.T) {
			if !alone {
				t.Parallel()
			}
			result := session.Run(check)
			for _, failure := range result.Failures {
				t.Error(failure)
			}
			if result.Verdict == suite.Skipped {
				t.Skip(result.Why)
			}
		})
	}
}
