package hostile_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

var (
	requests = flag.Int("requests", 2000, "how many requests are made")
	seed     = flag.Uint64("seed", 0, "what the requests are made from; 0: another at each run")
	only     = flag.String("only", "", "an operation to make alone, such as 'POST /api/events'")
)

// system receives the requests: one replica of every service. It trusts the clients' forwarded addresses, so that each
// client has its own limit on wrong logins.
var system *servicetest.System

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	os.Exit(servicetest.Run(m, servicetest.Options{
		Console: true, NoRace: true,
		Env: map[string]string{
			"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8,::1/128", "GOMEMLIMIT": "230MiB",
			"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8",
		},
	}, func(s *servicetest.System) { system = s }))
}
