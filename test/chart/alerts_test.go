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

// nightly are the arguments of a release that imports by oneRoster, within ten minutes.
var nightly = []string{"--set", "oneRoster.enabled=true,oneRoster.url=https://sis.example/ims," +
	"oneRoster.tokenUrl=https://sis.example/token,oneRoster.deadlineSeconds=600"}

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
	valuetest.MustHold(t, found, "docs/operate.md has no section on %s", alert)
	text, _, _ = strings.Cut(text, "\n##")
	for _, block := range regexp.MustCompile("(?s)```promql\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		queries = append(queries, block[1])
	}
	return text, queries
}

// The guide has a section for each alert, which the alert's runbook_url names, with what it means, what to look at and
// what to do.
func TestHardToBreak_Watching_TheGuideHasASectionForEachAlert(t *testing.T) {
	alerts := alertsOf(t, append(nightly, "--set", "prometheusRule.runbookUrl=https://school.example/run")...)
	valuetest.MustHold(t, len(alerts) >= 10, "only %d alerts", len(alerts))
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
	for _, args := range [][]string{nightly, {"--set", "stopped=true"},
		{"--values", "charts/belfry/examples/district.yaml"}} {
		file := filepath.Join(t.TempDir(), "rules.yaml")
		errortest.None(t, os.WriteFile(file, []byte(ruleFile(t, args...)), 0o600))
		out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput()
		errortest.Report(t, err, "%q\n%s", args, out)
	}
}

// Changes that those who follow do not get are as silent as messages that wait.
func TestChangesThatWaitRaiseAnAlert(t *testing.T) {
	wantFiring(t, "BelfryOutboxStuck", ofEvents+`,severity="warning"`, map[string]string{
		`belfry_outbox_age_seconds{` + ofEvents + `,pod="a"}`:  "0x60",
		`belfry_changes_age_seconds{` + ofEvents + `,pod="a"}`: "0+60x60"}, true)
}

// A check that fails once is repeated a minute later. One that keeps failing leaves the notes on absent pupils as they
// were the day before.
func TestANightlyCheckThatKeepsFailingRaisesAnAlert(t *testing.T) {
	for failed, firing := range map[string]bool{"0x20 1x40": false, "0x20 1+1x40": true} {
		wantFiring(t, "BelfryAbsencesUnchecked", ofEvents+`,severity="warning"`, map[string]string{
			`belfry_absence_duration_seconds_count{` + ofEvents + `,pod="a",outcome="failed"}`: failed}, firing)
	}
}

// A failed nightly import left the school's records as they were, and only its Job said so.
func TestAFailedNightlyImportRaisesAnAlert(t *testing.T) {
	const job = `namespace="schools",cronjob="belfry-oneroster"`
	started := "kube_cronjob_status_last_schedule_time{" + job + "}"
	done := "kube_cronjob_status_last_successful_time{" + job + "}"
	for name, c := range map[string]struct {
		series map[string]string
		firing bool
	}{
		"none is due yet":  {nil, false},
		"the first failed": {map[string]string{started: "9000x60"}, true},
		"the last failed":  {map[string]string{started: "9000x60", done: "8000x60"}, true},
		"it succeeded":     {map[string]string{started: "9000x60", done: "9100x60"}, false},
		"it still runs":    {map[string]string{started: "9000x50 9900x10", done: "9100x60"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			wantFiring(t, "BelfryImportFailed", job+`,severity="warning"`, c.series, c.firing)
		})
	}
}

// ofEvents are the labels of the alerts on events.
const ofEvents = `namespace="schools",service="belfry-events"`

// Of few requests, at night, one that fails is a large share. It wakes no one; a dozen do.
func TestOneFailedRequestAtNightRaisesNoPage(t *testing.T) {
	of := func(code string) string {
		return `http_server_request_duration_seconds_count{` + ofEvents + `,` +
			`belfry_listener="events",http_route="/api/events",http_response_status_code="` + code + `"}`
	}
	for failed, firing := range map[string]bool{"3x58 4x2": false, "3x45 4+1x15": true} {
		wantFiring(t, "BelfryErrorsFast", ofEvents+`,severity="critical"`,
			map[string]string{of("200"): "0+0.2x60", of("503"): failed}, firing)
	}
}

// wantFiring fails the test unless the alert fires with these labels, or does not, after an hour of such series.
func wantFiring(t *testing.T, alert, labels string, series map[string]string, firing bool) {
	t.Helper()
	promtool, dir := program(t, "promtool"), t.TempDir()
	errortest.None(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(ruleFile(t, nightly...)), 0o600))
	trial := "rule_files: [rules.yaml]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n"
	for name, values := range series {
		trial += fmt.Sprintf("  - {series: '%s', values: '%s'}\n", name, values)
	}
	trial += fmt.Sprintf("  promql_expr_test:\n  - expr: ALERTS{alertname='%s',alertstate='firing'}\n"+
		"    eval_time: 60m\n    exp_samples:\n", alert)
	if firing {
		trial += fmt.Sprintf("    - {value: 1, labels: '{__name__=\"ALERTS\",alertname=%q,"+
			"alertstate=\"firing\",%s}'}\n", alert, labels)
	}
	file := filepath.Join(dir, "trial.yaml")
	errortest.None(t, os.WriteFile(file, []byte(trial), 0o600))
	out, err := exec.Command(promtool, "test", "rules", file).CombinedOutput()
	errortest.Report(t, err, "%v\n%s", series, out)
}

// A planned stop sends no page: its rules have no alerts.
func TestAPlannedStopHasNoAlerts(t *testing.T) {
	if alerts := alertsOf(t, "--set", "stopped=true"); len(alerts) > 0 {
		t.Errorf("%v", alerts)
	}
}
