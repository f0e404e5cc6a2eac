package chart_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Each example of values renders to its golden file, with both kinds of Helm. UPDATE=1 go test ./test/chart
// -run Golden writes them; read the difference before you commit it.
func TestGoldenRenders(t *testing.T) {
	for _, values := range examples(t) {
		golden := filepath.Join("testdata", filepath.Base(values))
		for _, version := range []string{"helm 3", "helm 4"} {
			got := withoutBlankLines(template(t, version, "--values", values))
			if os.Getenv("UPDATE") != "" && version == "helm 3" {
				errortest.None(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			errortest.None(t, err)
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s with %s:\n%s", values, version, diff)
			}
		}
	}
}

// examples are the files of values, as paths from the checkout's root.
func examples(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "charts", "belfry", "examples", "*.yaml"))
	if err != nil || len(found) < 3 {
		t.Fatalf("%q, %v", found, err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], root+string(filepath.Separator))
	}
	return found
}

// The two kinds of Helm separate documents by different numbers of blank lines.
func withoutBlankLines(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func TestLintStrict(t *testing.T) {
	for _, version := range []string{"helm 3", "helm 4"} {
		for _, args := range variants(t) {
			out, errs, err := helm(version,
				append([]string{"lint", "--strict", "--kube-version", kubernetes, "charts/belfry"}, args...)...)
			errortest.Report(t, err, "%s, %q\n%s%s", version, args, out, errs)
		}
	}
}

// kubeconform checks objects against schemas that list every field, those of the Gateway API and the Prometheus
// operator included.
func kubeconform(text string) (string, error) {
	command := exec.Command(os.Getenv("KUBECONFORM"), "-strict", "-summary",
		"-schema-location", os.Getenv("SCHEMAS")+"/{{.ResourceKind}}{{.KindSuffix}}.json")
	command.Stdin = strings.NewReader(text)
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestEveryFieldIsKnownToKubernetes(t *testing.T) {
	for _, args := range variants(t) {
		out := template(t, "helm 3", args...)
		if said, err := kubeconform(out); err != nil || !strings.Contains(said, "Invalid: 0, Errors: 0, Skipped: 0") {
			t.Errorf("%q: %v\n%s", args, err, said)
		}
	}
}

// Kubernetes, and the operator of MongoDB, know each field of the examples, so a misspelt one would be found.
func TestTheExamplesAreKnownToKubernetes(t *testing.T) {
	for file, field := range map[string]string{"mongodb.yaml": "members:", "nightly-import.yaml": "schedule:"} {
		text := checkout.Read(t, "deploy/examples/"+file)
		said, err := kubeconform(text)
		if err != nil || !strings.Contains(said, "Valid: 1, Invalid: 0, Errors: 0, Skipped: 0") {
			t.Errorf("%s: %v\n%s", file, err, said)
		}
		if said, err := kubeconform(strings.Replace(text, field, "misspelt:", 1)); err == nil {
			t.Errorf("%s: an unknown field passes:\n%s", file, said)
		}
	}
}

// The examples name a patch of MongoDB without the holes that deploy/examples/README.md lists.
func TestHardToBreak_Row22_TheExamplesOfMongoDBHaveNoKnownHoles(t *testing.T) {
	version := regexp.MustCompile(`(?:image: mongo:|version: )8\.0\.(\d+)\b`)
	for _, example := range []string{"deploy/examples/mongodb.yaml", "tilt/stores.yaml"} {
		found := version.FindStringSubmatch(checkout.Read(t, example))
		if found == nil {
			t.Fatalf("%v names no patch of MongoDB 8.0", example)
		}
		if patch, err := strconv.Atoi(found[1]); err != nil || patch < 32 {
			t.Errorf("%v: %s, want 8.0.32 or newer", example, found[0])
		}
	}
}

// A field that does not exist is found in objects of every project, so that the test above can fail.
func TestUnknownFieldsAreFound(t *testing.T) {
	out := template(t, "helm 3", everything()...)
	for kind, field := range map[string]string{
		"Deployment": "automountServiceAccountToken", "HTTPRoute": "parentRefs", "ServiceMonitor": "endpoints",
		"PrometheusRule": "groups", "NetworkPolicy": "policyTypes",
		"HorizontalPodAutoscaler": "minReplicas", "Job": "ttlSecondsAfterFinished",
	} {
		_, after, found := strings.Cut(out, "kind: "+kind+"\n")
		document, _, _ := strings.Cut(after, "\n---\n")
		broken := strings.Replace(document, field, "misspelt", 1)
		if !found || broken == document {
			t.Fatalf("no %s with %s", kind, field)
		}
		before, _, _ := strings.Cut(out, "kind: "+kind+"\n")
		before = before[strings.LastIndex(before, "\n---\n")+1:]
		said, err := kubeconform(before + "kind: " + kind + "\n" + broken)
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(said, "misspelt") {
			t.Errorf("%s: %v\n%s", kind, err, said)
		}
	}
}
