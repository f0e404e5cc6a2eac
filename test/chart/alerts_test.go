package chart_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// alertsOf returns the annotations of each alert that the chart renders with those arguments.
func alertsOf(t *testing.T, args ...string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	rule := only(render(t, append([]string{"--set", "prometheusRule.enabled=true"}, args...)...), "PrometheusRule")
	for _, group := range list(rule["belfry"].at("spec", "groups")) {
		for _, r := range list(walk(group, "rules")) {
			if name := walk(r, "alert"); name != nil {
				found[fmt.Sprint(name)], _ = walk(r, "annotations").(map[string]any)
			}
		}
	}
	return found
}

// runbook is the section of docs/operate.md on an alert, and its queries.
func runbook(t *testing.T, alert string) (text string, queries []string) {
	t.Helper()
	_, text, found := strings.Cut(checkout.Read(t, "docs/operate.md"), "\n### "+alert+"\n")
	if !found {
		t.Fatalf("docs/operate.md has no section on %s", alert)
	}
	text, _, _ = strings.Cut(text, "\n##")
	for _, block := range regexp.MustCompile("(?s)```promql\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		queries = append(queries, block[1])
	}
	return text, queries
}

// The guide has a section for each alert, which the alert's runbook_url names, with what it means, what to look at and
// what to do.
func TestHardToBreak_Watching_TheGuideHasASectionForEachAlert(t *testing.T) {
	alerts := alertsOf(t, "--set", "prometheusRule.runbookUrl=https://school.example/run")
	if len(alerts) < 10 {
		t.Fatalf("only %d alerts", len(alerts))
	}
	for name, annotations := range alerts {
		if want := "https://school.example/run#" + strings.ToLower(name); annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url %v, want %s", name, annotations["runbook_url"], want)
		}
		text, _ := runbook(t, name)
		for _, part := range []string{"*It means*", "*Look at*", "*Do*"} {
			valuetest.Has(t, text, part, "the section on %s", name)
		}
	}
	guide := checkout.Read(t, "docs/operate.md")
	for _, section := range regexp.MustCompile(`(?m)^### (Belfry\w+)$`).FindAllStringSubmatch(guide, -1) {
		if alerts[section[1]] == nil {
			t.Errorf("docs/operate.md has a section on %s, which is no alert", section[1])
		}
	}
}

// Debian's Prometheus, which is older than most, understands all rules.
func TestPrometheusUnderstandsTheRules(t *testing.T) {
	promtool := program(t, "promtool")
	for _, args := range [][]string{{}, {"--set", "stopped=true"},
		{"--values", "charts/belfry/examples/district.yaml"}} {
		file := filepath.Join(t.TempDir(), "rules.yaml")
		errortest.None(t, os.WriteFile(file, []byte(ruleFile(t, args...)), 0o600))
		out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput()
		errortest.Report(t, err, "%q\n%s", args, out)
	}
}

// Changes that those who follow do not get are as silent as messages that wait.
func TestChangesThatWaitRaiseAnAlert(t *testing.T) {
	promtool, dir := program(t, "promtool"), t.TempDir()
	errortest.None(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(ruleFile(t)), 0o600))
	trial := filepath.Join(dir, "trial.yaml")
	errortest.None(t, os.WriteFile(trial, []byte(`rule_files: [rules.yaml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'belfry_outbox_age_seconds{namespace="schools",service="belfry-events",pod="a"}', values: 0x20}
      - {series: 'belfry_changes_age_seconds{namespace="schools",service="belfry-events",pod="a"}', values: 0+60x20}
    promql_expr_test:
      - expr: ALERTS{alertname="BelfryOutboxStuck",alertstate="firing"}
        eval_time: 12m
        exp_samples:
          - labels: >-
              {__name__="ALERTS",alertname="BelfryOutboxStuck",alertstate="firing",namespace="schools",
              service="belfry-events",severity="warning"}
            value: 1
`), 0o600))
	out, err := exec.Command(promtool, "test", "rules", trial).CombinedOutput()
	errortest.Report(t, err, "%s", out)
}

// A planned stop sends no page: its rules have no alerts.
func TestAPlannedStopHasNoAlerts(t *testing.T) {
	if alerts := alertsOf(t, "--set", "stopped=true"); len(alerts) > 0 {
		t.Errorf("%v", alerts)
	}
}
