package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestEveryRuleIsProvedOrPromisesNothing(t *testing.T) {
	checks, tests := found(t)
	errortest.Report(t, errortest.Of(collect(checks, tests)))
}

// TestALostRuleIsFound takes tests away, so that the test above can fail.
func TestALostRuleIsFound(t *testing.T) {
	checks, tests := found(t)
	without := func(name string) func(c check) bool { return func(c check) bool { return c.Name == name } }
	for name, want := range map[string]string{
		"TestPart4_2_Rule06_StatusStaysWhenAdditionsFail":        "part 4.2 has 31 rules that a test states, not 32",
		"TestDecisionsPart9_EveryRouteShowsWhatTheTableSays":     "part decisions 9 has 3 rules",
		"TestPart4_2_Rule05_RepeatedResourceGroupRaisesQuantity": "no test says what 4.2 rule 5 is",
	} {
		_, err := collect(slices.DeleteFunc(slices.Clone(checks), without(name)), tests)
		errortest.Says(t, err, want, "without %s", name)
	}
}

func TestEveryCheckIsNamedAfterWhatItProves(t *testing.T) {
	checks, _ := found(t)
	seen := map[string]bool{}
	for _, c := range checks {
		valuetest.Holds(t, !seen[c.Name], "%s appears twice", c.Name)
		seen[c.Name] = true
		if len(c.rules) == 0 {
			valuetest.Holds(t, c.Package != suite, "%s proves nothing", c.Name)
			continue
		}
		valuetest.Same(t, c.part(), part(c.rules[0]),
			"%s is named after part … and proves %s first", c.Name, c.rules[0])
		for _, id := range c.test.rules() {
			if !slices.ContainsFunc(c.rules, func(stated string) bool {
				stated, _, _ = strings.Cut(stated, ": ")
				return stated == id || strings.HasPrefix(stated, id+" ")
			}) {
				t.Errorf("%s does not prove %s", c.Name, id)
			}
		}
	}
}

func TestEveryGoldenFileIsCompared(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.json")
	valuetest.MustHold(t, err == nil && len(files) != 0, "golden files: %v %v", files, err)
	sources, err := filepath.Glob("../*_test.go")
	errortest.None(t, err)
	var all strings.Builder
	for _, name := range sources {
		text, err := os.ReadFile(name)
		errortest.None(t, err)
		all.Write(text)
	}
	for _, file := range files {
		valuetest.Has(t, all.String(), strconv.Quote(filepath.Base(file)), "no check compares %s", file)
	}
}

func TestTestsAreListedByTheRulesTheyName(t *testing.T) {
	for name, want := range map[string][2]string{
		"TestPart4_2_Rules07_08_09_FailuresToTheLetter": {"4.2", "[4.2 rule 7 4.2 rule 8 4.2 rule 9]"},
		"TestPart5_Rule08_TheEffectiveUserIsTheOwner":   {"5", "[5 rule 8]"},
		"TestPart5_2_EveryFailedLoginLooksTheSame":      {"5", "[5 rule 2]"},
		"TestDecisionsPart4_BothSpellings":              {"decisions 4", "[]"},
		"TestAdministration_CreateUser":                 {"administration", "[]"},
		"TestClients_Timetables":                        {"clients", "[]"},
		"TestRun_Ends":                                  {"", "[]"},
	} {
		got := test{Name: name}
		if rules := "[" + strings.Join(got.rules(), " ") + "]"; got.part() != want[0] || rules != want[1] {
			t.Errorf("%s: part %q, rules %s", name, got.part(), rules)
		}
	}
}

func found(t *testing.T) ([]check, []test) {
	t.Helper()
	root := checkout.Folder(t)
	checks, err := findChecks(root)
	valuetest.MustHold(t, err == nil && len(checks) != 0, "%d checks, %v", len(checks), err)
	tests, err := findTests(root)
	errortest.None(t, err)
	return checks, tests
}
