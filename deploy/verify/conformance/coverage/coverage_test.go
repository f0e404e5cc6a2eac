package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/deploy/verify/conformance/suite"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

func TestEveryRuleIsProvedOrPromisesNothing(t *testing.T) {
	checks, known := suite.Checks(), testNames(t)
	seen := map[string]bool{}
	for _, r := range suite.Rules() {
		if seen[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		seen[r.ID] = true
		proved := len(proving(r, checks)) > 0
		switch {
		case r.Silent && (proved || r.Inside != ""):
			t.Errorf("%s is proved and should not say otherwise", r.ID)
		case r.Inside != "" && !slices.Contains(known, r.Inside):
			t.Errorf("%s is proved by %s, which does not exist", r.ID, r.Inside)
		case !proved && r.Inside == "" && !r.Silent:
			t.Errorf("%s is proved by nothing: %s", r.ID, r.Text)
		}
	}
}

func TestEveryCheckNamesKnownRulesAndItsPart(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, r := range suite.Rules() {
		known[r.ID] = true
	}
	numbered := regexp.MustCompile(`_Rules?((?:\d\d_)+)`)
	for _, c := range suite.Checks() {
		if seen[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		seen[c.Name] = true
		if len(c.Rules) == 0 {
			t.Errorf("%s proves nothing", c.Name)
			continue
		}
		for _, id := range c.Rules {
			if !known[id] {
				t.Errorf("%s proves %s, which is no rule", c.Name, id)
			}
		}
		if part := (test{Name: c.Name}).part(); part != c.Part() {
			t.Errorf("%s is named after part %q and proves %s first", c.Name, part, c.Rules[0])
		}
		if m := numbered.FindStringSubmatch(c.Name); m != nil {
			for number := range strings.SplitSeq(strings.TrimSuffix(m[1], "_"), "_") {
				n, _ := strconv.Atoi(number)
				rule := c.Part() + " rule " + strconv.Itoa(n)
				if !slices.ContainsFunc(c.Rules, func(id string) bool { return id == rule || strings.HasPrefix(id, rule+" ") }) {
					t.Errorf("%s does not prove %s", c.Name, rule)
				}
			}
		}
	}
}

func TestEveryGoldenFileIsCompared(t *testing.T) {
	files, err := filepath.Glob("../suite/testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v %v", files, err)
	}
	sources, err := filepath.Glob("../suite/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, file := range files {
		if !strings.Contains(all.String(), strconv.Quote(filepath.Base(file))) {
			t.Errorf("no check compares %s", file)
		}
	}
}

func TestTestsAreListedByTheRulesTheyName(t *testing.T) {
	for name, want := range map[string][2]string{
		"TestPart4_2_Rules07_08_09_FailuresToTheLetter": {"4.2", "[4.2 rule 7 4.2 rule 8 4.2 rule 9]"},
		"TestPart5_Rule08_TheEffectiveUserIsTheOwner":   {"5", "[5 rule 8]"},
		"TestPart5_2_EveryFailedLoginLooksTheSame":      {"5", "[5 rule 2]"},
		"TestDecisionsPart4_BothSpellings":              {"decisions 4", "[]"},
		"TestAdministration_CreateUser":                 {"administration", "[]"},
		"TestRun_Ends":                                  {"", "[]"},
	} {
		got := test{Name: name}
		if rules := "[" + strings.Join(got.rules(), " ") + "]"; got.part() != want[0] || rules != want[1] {
			t.Errorf("%s: part %q, rules %s", name, got.part(), rules)
		}
	}
}

func testNames(t *testing.T) []string {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := findTests(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, known := range tests {
		names = append(names, known.Name)
	}
	return names
}
