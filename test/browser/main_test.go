package browser

import (
	"os"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// system has two replicas of each service, as a school's has.
var system = servicetest.Share(servicetest.Options{Console: true, Replicas: 2, NoRace: true})

func TestMain(m *testing.M) {
	code := system.Run(m)
	if chromium.close != nil {
		chromium.close()
	}
	os.Exit(code)
}
