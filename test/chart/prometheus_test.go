package chart_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const (
	// patience is how long anything may take that Prometheus is to see.
	patience = 3 * time.Minute
	// scrape is the time between two scrapes, and what one may take: asking two stores that do not answer takes two
	// seconds. Rules are evaluated every second.
	scrape = 3 * time.Second
)

// program returns the path of Debian's prometheus or promtool: the one on the PATH, else what .ci/setup has unpacked.
// Without it the test is skipped.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	cache, err := os.UserCacheDir()
	errortest.None(t, err)
	path := filepath.Join(cache, "belfry", "prometheus", "usr", "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s here: `.ci/setup tests` gets Debian's", name)
	}
	return path
}

// monitor is a real Prometheus that scrapes a system as the chart's ServiceMonitor says.
type monitor struct {
	url, rules string
	process    *process.Process
	out        output.Buffer
}

// watch starts a Prometheus of the test's own; rules is the text of its rule file.
func watch(t *testing.T, system *servicetest.System, rules string) *monitor {
	t.Helper()
	binary, dir := program(t, "prometheus"), t.TempDir()
	addresses, err := frontdoor.Addresses(1)
	errortest.None(t, err)
	m := &monitor{url: "http://" + addresses[0], rules: filepath.Join(dir, "rules.yaml")}
	var targets []map[string]any
	for _, service := range services {
		targets = append(targets, map[string]any{"targets": []string{system.Health(service, 0)},
			"labels": map[string]any{
				"namespace": "schools", "service": "belfry-" + service, "pod": service + "-0", "container": service,
				"endpoint": "health"}})
	}
	configuration, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": scrape.String(), "evaluation_interval": "1s"},
		"rule_files": []string{m.rules},
		"scrape_configs": []any{map[string]any{"job_name": "belfry", "scrape_timeout": scrape.String(),
			"static_configs": targets}},
	})
	errortest.None(t, err)
	file := filepath.Join(dir, "prometheus.yaml")
	errortest.None(t, os.WriteFile(file, configuration, 0o600))
	m.write(t, rules)
	command := exec.Command(binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addresses[0], "--log.level=warn")
	command.Stdout, command.Stderr = &m.out, &m.out
	m.process, err = process.Start(command)
	errortest.None(t, err)
	t.Cleanup(func() {
		errortest.Report(t, m.process.Stop(syscall.SIGTERM, time.Minute))
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := m.process.Await(ctx, process.Serves(m.url+"/-/ready")); err != nil {
		t.Fatalf("%v\n%s", err, m.out.String())
	}
	return m
}

func (m *monitor) write(t *testing.T, rules string) {
	t.Helper()
	errortest.None(t, os.WriteFile(m.rules, []byte(rules), 0o600))
}

// reload gives Prometheus other rules, as the operator does.
func (m *monitor) reload(t *testing.T, rules string) {
	t.Helper()
	m.write(t, rules)
	errortest.None(t, syscall.Kill(m.process.PID(), syscall.SIGHUP))
}

// ask asks Prometheus' API and decodes its data into answer.
func (m *monitor) ask(t *testing.T, path string, query url.Values, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.url+path+"?"+query.Encode(), nil)
	errortest.None(t, err)
	response, err := http.DefaultClient.Do(request)
	errortest.None(t, err)
	defer func() { _ = response.Body.Close() }()
	envelope := struct {
		Error string
		Data  any
	}{Data: answer}
	if err := json.NewDecoder(response.Body).Decode(&envelope); err != nil || envelope.Error != "" {
		t.Fatalf("%s %s: %v %s", path, query, err, envelope.Error)
	}
}

// series is one of an answer: its labels, and its newest value.
type series struct {
	Metric map[string]string
	Value  [2]any
}

// query returns the series of an expression that have a number.
func (m *monitor) query(t *testing.T, expression string) []series {
	t.Helper()
	var answer struct{ Result []series }
	m.ask(t, "/api/v1/query", url.Values{"query": {expression}}, &answer)
	var numbers []series
	for _, s := range answer.Result {
		if s.Value[1] != "NaN" {
			numbers = append(numbers, s)
		}
	}
	return numbers
}

// alerts are those that are pending or firing, as name → states with their labels.
func (m *monitor) alerts(t *testing.T) map[string][]alert {
	t.Helper()
	var answer struct{ Alerts []alert }
	m.ask(t, "/api/v1/alerts", nil, &answer)
	found := map[string][]alert{}
	for _, a := range answer.Alerts {
		found[a.Labels["alertname"]] = append(found[a.Labels["alertname"]], a)
	}
	return found
}

type alert struct {
	Labels, Annotations map[string]string
	State               string
}

// await calls try until it says "", and fails the test with what it said last.
func await(t *testing.T, try func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for said := try(); said != ""; said = try() {
		valuetest.MustHold(t, !time.Now().After(deadline), said)
		time.Sleep(500 * time.Millisecond)
	}
}

// ruleFile is what the operator makes of the chart's PrometheusRule: a file of rules.
func ruleFile(t *testing.T, args ...string) string {
	t.Helper()
	rule := only(render(t, append([]string{"--set", "prometheusRule.enabled=true"}, args...)...), "PrometheusRule")
	valuetest.MustSame(t, len(rule), 1, "objects of the kind PrometheusRule")
	text, err := yaml.Marshal(rule["belfry"]["spec"])
	errortest.None(t, err)
	return strings.TrimSpace(string(text)) + "\n"
}

func (s series) String() string { return fmt.Sprintf("%v %v", s.Metric, s.Value[1]) }
