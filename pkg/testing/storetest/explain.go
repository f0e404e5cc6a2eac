package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// NoScan fails the test when the plan of the command (a find or an aggregate, in the form of runCommand) reads a
// whole collection. It understands the plans of MongoDB, and those of PostgreSQL below the test engine. There, a
// scan of the primary key without a condition on the id reads the whole collection, too. The collection should hold
// a thousand documents or more: on a small one a planner may rightly choose a scan.
func NoScan(t testing.TB, db *mongo.Database, command bson.D) {
	t.Helper()
	var plan bson.M
	explain := bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: "queryPlanner"}}
	if err := db.RunCommand(t.Context(), explain).Decode(&plan); err != nil {
		t.Fatalf("explain: %v", err)
	}
	text, err := bson.MarshalExtJSON(plan, false, false)
	errortest.None(t, err)
	var tree any
	errortest.None(t, json.Unmarshal(text, &tree))
	if scan := findScan(tree); scan != "" {
		t.Errorf("the command reads the whole collection (%s):\n%s", scan, text)
	}
}

// findScan returns the stage of a plan that scans, and "" when there is none.
func findScan(node any) string {
	children, _ := node.([]any)
	if n, isStage := node.(map[string]any); isStage {
		if n["stage"] == "COLLSCAN" || n["Node Type"] == "Seq Scan" {
			return "a collection scan"
		}
		if condition, found := n["Index Cond"]; found && strings.HasPrefix(fmt.Sprint(n["Index Name"]), "_id_") &&
			!strings.Contains(fmt.Sprint(condition), "object_id") {
			return "the primary key from end to end"
		}
		children = slices.Collect(maps.Values(n))
	}
	for _, child := range children {
		if scan := findScan(child); scan != "" {
			return scan
		}
	}
	return ""
}
