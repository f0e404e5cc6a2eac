package checkout_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// adapters are the packages of the services that reach HTTP, a store or telemetry. All others are domain packages.
var adapters = map[string]string{
	"api":      "is HTTP",
	"store":    "is MongoDB",
	"attempts": "counts in Redis",
	"openid":   "asks login providers, and keeps logins in Redis",
	"sender":   "sends mail and webhooks",
}

// shared are the packages that domain packages may import.
var shared = []string{"idempotency", "journal/audit", "journal/change", "neighbour/fact", "principal",
	"principal/authority", "problem", "record", "record/form", "record/needle", "web/sealed", "wiretime"}

// forbidden are import paths; each stands for all packages below it, too.
var forbidden = []string{"net/http", "github.com/gofiber/fiber", "go.mongodb.org", "github.com/redis/go-redis",
	"go.opentelemetry.io"}

func TestDomainPackagesReachNoHTTPNoStoreAndNoTelemetry(t *testing.T) {
	root := checkout.Folder(t)
	folders, err := filepath.Glob(filepath.Join(root, "services", "*", "internal", "*"))
	errortest.None(t, err)
	folders = slices.DeleteFunc(folders, func(folder string) bool { return adapters[filepath.Base(folder)] != "" })
	if len(folders) < 8 { // calendar, element, event, category, clash, absence, user, note
		t.Fatalf("domain packages: %q", folders)
	}
	for _, name := range shared {
		folders = append(folders, filepath.Join(root, "pkg", name))
	}
	mustNotReach(t, root, folders, forbidden...)
}

func TestServicesAndBelfryctlReachNothingThatIsForTests(t *testing.T) {
	root := checkout.Folder(t)
	programs, err := filepath.Glob(filepath.Join(root, "services", "*", "cmd", "*"))
	errortest.None(t, err)
	mustNotReach(t, root, append(programs, filepath.Join(root, "cmd", "belfryctl")),
		"github.com/belfry-schools/belfry/pkg/testing")
}

// mustNotReach follows the imports of packages to the end.
func mustNotReach(t *testing.T, root string, folders []string, forbidden ...string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Deps"}, folders...)...)
	list.Dir = root
	out, err := list.Output()
	errortest.None(t, err)
	seen := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; seen++ {
		var p struct {
			ImportPath string
			Deps       []string // transitive
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, of := range forbidden {
			if slices.ContainsFunc(p.Deps,
				func(dep string) bool { return dep == of || strings.HasPrefix(dep, of+"/") }) {
				t.Errorf("%s reaches %s", p.ImportPath, of)
			}
		}
	}
	valuetest.Same(t, seen, len(folders), "packages listed")
}
