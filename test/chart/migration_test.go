package chart_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// The four containers together reserve at most what a pod of one service does, by default and for a district.
func TestTheMigrationFindsRoomWhereAServiceDoes(t *testing.T) {
	for _, args := range variants(t) {
		objects := render(t, args...)
		for _, resource := range []string{"cpu", "memory"} {
			sum := 0
			for _, container := range list(only(objects, "Job")["belfry-migrate"].at("spec", "template", "spec",
				"containers")) {
				sum += quantity(t, walk(container, "resources", "requests", resource))
			}
			for _, service := range services {
				own := quantity(t, only(objects, "Deployment")["belfry-"+service].at("spec", "template", "spec",
					"containers", 0, "resources", "requests", resource))
				if sum > max(own, 100) { // the example for development asks for less than the migration
					t.Errorf("%q: the migration asks for %d of %s, %s for %d", args, sum, resource, service, own)
				}
			}
		}
	}
}

// quantity is a number of thousandths of processors or of MiB.
func quantity(t *testing.T, value any) int {
	t.Helper()
	found := regexp.MustCompile(`^(\d+)(m|Mi)$`).FindStringSubmatch(fmt.Sprint(value))
	if found == nil {
		t.Fatalf("%v is no quantity of m or Mi", value)
	}
	number, err := strconv.Atoi(found[1])
	errortest.None(t, err)
	return number
}
