package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Every pod meets the restricted standard of Kubernetes, and has no token of the cluster.
func TestEveryPodIsRestricted(t *testing.T) {
	for _, args := range variants(t) {
		objects := render(t, args...)
		found := pods(objects)
		valuetest.Same(t, len(found), len(services)+2+len(only(objects, "CronJob")), "%q: kinds of pod", args)
		user := "65532"
		if strings.Contains(strings.Join(args, " "), "openshift.yaml") {
			user = "<nil>" // the cluster's
		}
		for name, pod := range found {
			for path, want := range map[string]string{"runAsNonRoot": "true", "runAsUser": user, "fsGroup": "<nil>",
				"seccompProfile": "map[type:RuntimeDefault]"} {
				valuetest.Same(t, fmt.Sprint(walk(pod, "securityContext", path)), want, "%s: %s", name, path)
			}
			if walk(pod, "automountServiceAccountToken") != false || walk(pod, "enableServiceLinks") != false {
				t.Errorf("%s gets a token or variables of other services", name)
			}
			for _, container := range list(walk(pod, "containers")) {
				for path, want := range map[string]string{"allowPrivilegeEscalation": "false",
					"readOnlyRootFilesystem": "true", "capabilities": "map[drop:[ALL]]"} {
					valuetest.Same(t, fmt.Sprint(walk(container, "securityContext", path)), want, "%s: %s", name, path)
				}
				for _, path := range [][]any{{"requests", "cpu"}, {"requests", "memory"}, {"limits", "memory"}} {
					valuetest.Holds(t, walk(walk(container, "resources"), path...) != nil, "%s has no %s", name, path)
				}
			}
		}
	}
}

// A changed setting restarts the pods; other changes do not.
func TestChangedSettingsRollThePods(t *testing.T) {
	sum := func(args ...string) string {
		t.Helper()
		return fmt.Sprint(only(render(t, args...), "Deployment")["belfry-notes"].at("spec", "template", "metadata",
			"annotations", "checksum/config"))
	}
	if sum() != sum("--set", "services.notes.replicas=4") || sum() == sum("--set", "logLevel=DEBUG") {
		t.Error("the checksum does not follow the ConfigMap")
	}
}

// Two releases in a namespace share no object, and neither selects the other's pods.
func TestSeveralReleasesInOneNamespace(t *testing.T) {
	release := func(name string) (ids, selectors map[string]bool) {
		t.Helper()
		out := do(t, "helm 3",
			append([]string{"template", name, "charts/belfry", "--namespace", "schools", "--kube-version", kubernetes},
				everything()...)...)
		ids, selectors = map[string]bool{}, map[string]bool{}
		for _, o := range parse(t, out) {
			ids[o.kind()+" "+o.name()] = true
			for _, selector := range []any{o.at("spec", "selector"), o.at("spec", "podSelector", "matchLabels"),
				o.at("spec", "selector", "matchLabels")} {
				if text := fmt.Sprint(selector); strings.Contains(text, "app.kubernetes.io") {
					selectors[text] = true
					if !strings.Contains(text, "app.kubernetes.io/instance:"+name) {
						t.Errorf("%s %s selects %s", o.kind(), o.name(), text)
					}
				}
			}
		}
		return ids, selectors
	}
	first, selected := release("north")
	second, others := release("south")
	for id := range first {
		valuetest.Holds(t, !second[id], "both have %s", id)
	}
	if len(selected) == 0 || len(selected) != len(others) {
		t.Errorf("%d and %d selectors", len(selected), len(others))
	}
}

func TestNotesTellHowToLogIn(t *testing.T) {
	chart := notesAsAnObject(t)
	for set, want := range map[string][]string{
		"ingress.enabled=true,host=a.example,trustedProxies[0]=10.42.0.0/16,ingress.tlsSecret=tls," +
			"secrets.adminUuid.name=admin": {
			"BELFRY_URL=https://a.example",
			"kubectl get secret admin --namespace schools -o jsonpath='{.data.admin-uuid}'", "/api/login",
			"helm test belfry"},
		"ingress.enabled=true,host=a.example,trustedProxies[0]=10.42.0.0/16": {
			"TLS has to end before the ingress controller"},
		"serviceMonitor.enabled=true": {"Prometheus is kept from the metrics until networkPolicy.monitoring"},
		"logLevel=INFO":               {"There is no way in from outside the cluster yet"},
	} {
		out := do(t, "helm 3", "template", "belfry", chart, "--namespace", "schools", "--kube-version",
			kubernetes, "--set", set, "--show-only", "templates/notes.yaml")
		notes := fmt.Sprint(parse(t, out)[0]["notes"])
		for _, text := range want {
			valuetest.Has(t, notes, text, set)
		}
	}
}

// notesAsAnObject returns a copy of the chart whose notes are an object: Helm shows notes only with a cluster.
func notesAsAnObject(t *testing.T) string {
	t.Helper()
	dir := copied(t, filepath.Join(t.TempDir(), "belfry"))
	notes, err := os.ReadFile(filepath.Join(dir, "templates", "NOTES.txt"))
	errortest.None(t, err)
	object := "{{ define \"notes\" }}" + string(notes) + "{{ end }}\nnotes: {{ include \"notes\" . | toJson }}\n"
	errortest.None(t, os.WriteFile(filepath.Join(dir, "templates", "notes.yaml"), []byte(object), 0o644))
	return dir
}

// A spread or a strategy that is taken away (null) leaves no empty field behind, which Kubernetes would refuse.
func TestASpreadThatIsTakenAwayLeavesNothing(t *testing.T) {
	out := template(t, "helm 3", "--set", "defaults.spread=null,defaults.strategy.rollingUpdate=null")
	said, err := kubeconform(out)
	errortest.Report(t, err, "%s", said)
}
