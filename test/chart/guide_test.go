package chart_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// commands are the commands of Helm that the project's texts tell readers to run, by the file, with continued lines
// joined.
func commands(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	files := []string{"README.md", "docs/operate.md", "docs/development.md", "deploy/examples/README.md",
		"deploy/examples/valkey.yaml", "charts/belfry/README.md", "charts/belfry/templates/NOTES.txt"}
	for _, file := range append(files, examples(t)...) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		joined := regexp.MustCompile(`\\\n#? *`).ReplaceAllString(string(text), "")
		found[file] = regexp.MustCompile(`(?m)helm (install|upgrade) .*$`).FindAllString(joined, -1)
	}
	if len(found["docs/operate.md"]) < 4 || len(found[examples(t)[0]]) == 0 {
		t.Fatalf("the texts name the commands %q", found)
	}
	return found
}

// shut are the settings by which the guide starts Belfry without a front door.
const shut = "--set ingress.enabled=false --set httpRoute.enabled=false"

// One command installs and upgrades, also after a first install that failed, and what it sets is in the file, so that
// the next one does not take it back. Only stopping, and shutting the front door, is for the moment.
func TestTheTextsUpgradeByOneCommand(t *testing.T) {
	moment := strings.NewReplacer("--set stopped=true", "", shut, "")
	for file, all := range commands(t) {
		for _, command := range all {
			if !strings.HasPrefix(command, "helm upgrade --install ") || !strings.Contains(command, "--values ") ||
				strings.Contains(moment.Replace(command), "--set") {
				t.Errorf("%s: %s", file, command)
			}
		}
	}
}

// Helm does not wait for pods that are ending; the guide does, after each stop.
func TestTheGuideWaitsForTheLastPod(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	stops := strings.Split(string(guide), "--set stopped=true")
	for _, after := range stops[1:] {
		_, next, _ := strings.Cut(after, "\n")
		if !strings.HasPrefix(next, "kubectl wait pod ") || !strings.Contains(strings.SplitN(next, "```", 2)[0],
			"--for=delete") {
			t.Errorf("after a stop comes %.80q", next)
		}
	}
	if len(stops) < 2 {
		t.Error("the guide does not stop Belfry")
	}
}

// While persons are erased again after a restore no user comes in, and the services run.
func TestTheGuideShutsTheFrontDoorAfterARestore(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	joined := regexp.MustCompile(`\\\n *`).ReplaceAllString(string(guide), "")
	const repeated = "--again erased.json --really"
	if closed, again := strings.Index(joined, shut), strings.Index(joined, repeated); closed < 0 ||
		again < closed {
		t.Error("the guide erases before it has shut the front door")
	}
	open := []string{"--set", "ingress.enabled=true", "--set", "httpRoute.enabled=true",
		"--set", "httpRoute.parentRefs[0].name=web"}
	for kind, want := range map[string]struct{ open, shut int }{
		"Ingress": {1, 0}, "HTTPRoute": {1, 0}, "Service": {4, 4}, "Deployment": {4, 4},
	} {
		args := append([]string{"--values", "charts/belfry/examples/school.yaml"}, open...)
		if n := len(only(render(t, args...), kind)); n != want.open {
			t.Errorf("open: %d %s, want %d", n, kind, want.open)
		}
		if n := len(only(render(t, append(args, strings.Fields(shut)...)...), kind)); n != want.shut {
			t.Errorf("shut: %d %s, want %d", n, kind, want.shut)
		}
	}
}

// The examples of retries repeat what is safe and nothing else, and Traefik finds what its annotation names.
func TestTheExamplesOfRetriesRepeatWhatIsSafe(t *testing.T) {
	examples := filepath.Join("deploy", "examples")
	text, err := os.ReadFile(filepath.Join(root, examples, "traefik-retry.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if said, err := kubeconform(string(text)); err != nil || !strings.Contains(said, "Valid: 1, Invalid: 0") {
		t.Errorf("%v\n%s", err, said)
	}
	middleware := parse(t, string(text))[0]
	retry, _ := middleware.at("spec", "retry").(map[string]any)
	if _, all := retry["retryNonIdempotentMethod"]; all || fmt.Sprint(retry["status"]) != "[502 504]" {
		t.Errorf("Traefik repeats %v", retry) // 503 is Belfry's own answer, and POST may have done its work
	}
	want := fmt.Sprintf("%v-%s@kubernetescrd", middleware.at("metadata", "namespace"), middleware.name())
	for file, annotation := range map[string]string{
		"traefik-values.yaml": "traefik.ingress.kubernetes.io/router.middlewares " + want,
		"nginx-values.yaml":   "nginx.ingress.kubernetes.io/proxy-next-upstream error timeout",
	} {
		name, value, _ := strings.Cut(annotation, " ")
		ingress := only(render(t, "--values", "charts/belfry/examples/school.yaml", "--values",
			filepath.Join(examples, file)), "Ingress")["belfry"]
		if got := ingress.at("metadata", "annotations", name); got != value {
			t.Errorf("%s: %s is %v, want %s", file, name, got, value)
		}
	}
}

// Argo CD renders again at each refresh and compares; its PreSync hooks run in the order of their weights.
func TestArgoCDFindsNothingToMend(t *testing.T) {
	args := append([]string{"template", "belfry", "charts/belfry", "--include-crds", "--kube-version", kubernetes},
		everything()...)
	for _, version := range []string{"helm 3", "helm 4"} {
		first, errs, err := helm(version, args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		if second, _, _ := helm(version, args...); first != second {
			t.Errorf("%s renders two things from the same values", version)
		}
		weights := map[string]string{}
		for _, o := range parse(t, first) {
			if o.at("metadata", "annotations", "helm.sh/hook") == "pre-install,pre-upgrade" {
				weights[o.kind()] = fmt.Sprint(o.at("metadata", "annotations", "helm.sh/hook-weight"))
			}
			if o.kind() == "Deployment" && o.at("spec", "replicas") != nil {
				t.Errorf("%s disputes the autoscaler's number of pods", o.name())
			}
		}
		if !maps.Equal(weights, map[string]string{"NetworkPolicy": "-1", "Job": "<nil>"}) {
			t.Errorf("the hooks before a sync have the weights %v", weights)
		}
	}
}
