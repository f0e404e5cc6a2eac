package checkout

import (
	"os"
	"path/filepath"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
)

// Routes reads the table of public paths of the checkout.
func Routes() (routes.Table, error) {
	root, err := Root()
	if err != nil {
		return routes.Table{}, err
	}
	text, err := os.ReadFile(filepath.Join(root, "charts", "belfry", "files", "routes.yaml"))
	if err != nil {
		return routes.Table{}, err
	}
	return routes.Parse(text)
}
