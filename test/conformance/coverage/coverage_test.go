package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

func TestEveryRuleIsProvedOrPromisesNothing(t *testing.T) {
	rules, checks, known := allRules(t), allChecks(t), testNames(t)
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.id] {
			t.Errorf("%s is there twice", r.id)
		}
		seen[r.id] = true
		proved := len(proving(r, checks)) > 0
		switch {
		case r.silent && (proved || r.inside != ""):
			t.Errorf("%s is proved and should not say otherwise", r.id)
		case r.inside != "" && !slices.Contains(known, r.inside):
			t.Errorf("%s is proved by %s, which does not exist", r.id, r.inside)
		case !proved && r.inside == "" && !r.silent:
			t.Errorf("%s is proved by nothing: %s", r.id, r.text)
		}
	}
}

func TestEveryCheckNamesKnownRulesAndItsPart(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, r := range allRules(t) {
		known[r.id] = true
	}
	numbered := regexp.MustCompile(`_Rules?((?:\d\d_)+)`)
	for _, c := range allChecks(t) {
		if seen[c.name] {
			t.Errorf("%s is there twice", c.name)
		}
		seen[c.name] = true
		if len(c.rules) == 0 {
			t.Errorf("%s proves nothing", c.name)
			continue
		}
		for _, id := range c.rules {
			if !known[id] {
				t.Errorf("%s proves %s, which is no rule", c.name, id)
			}
		}
		if part := (test{Name: c.name}).part(); part != c.part() {
			t.Errorf("%s is named after part %q and proves %s first", c.name, part, c.rules[0])
		}
		if m := numbered.FindStringSubmatch(c.name); m != nil {
			for number := range strings.SplitSeq(strings.TrimSuffix(m[1], "_"), "_") {
				n, _ := strconv.Atoi(number)
				rule := c.part() + " rule " + strconv.Itoa(n)
				if !slices.ContainsFunc(c.rules,
					func(id string) bool { return id == rule || strings.HasPrefix(id, rule+" ") }) {
					t.Errorf("%s does not prove %s", c.name, rule)
				}
			}
		}
	}
}

func TestEveryGoldenFileIsCompared(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v %v", files, err)
	}
	sources, err := filepath.Glob("../*_test.go")
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
		"TestClients_Timetables":                        {"clients", "[]"},
		"TestRun_Ends":                                  {"", "[]"},
	} {
		got := test{Name: name}
		if rules := "[" + strings.Join(got.rules(), " ") + "]"; got.part() != want[0] || rules != want[1] {
			t.Errorf("%s: part %q, rules %s", name, got.part(), rules)
		}
	}
}

func allRules(t *testing.T) []rule {
	t.Helper()
	rules, err := readRules(rulesText)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func allChecks(t *testing.T) []check {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	checks, err := findChecks(root)
	if err != nil || len(checks) == 0 {
		t.Fatalf("%d checks, %v", len(checks), err)
	}
	return checks
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
