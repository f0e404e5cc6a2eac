package api_test

import (
	"os"
	"testing"

	"github.com/belfry-schools/belfry/pkg/servicetest"
)

// system is two replicas of identity, which the tests share; each makes users of its own.
var system *servicetest.System

func TestMain(m *testing.M) {
	os.Exit(servicetest.Run(m, servicetest.Options{
		Services: []string{"identity"}, Replicas: 2,
		Env: map[string]string{"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8"},
	}, func(s *servicetest.System) { system = s }))
}
