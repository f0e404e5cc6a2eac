package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every pod meets the restricted standard of Kubernetes, and has no token of the cluster.
func TestEveryPodIsRestricted(t *testing.T) {
	for _, args := range append([][]string{{}, everything()}, valuesArgs(examples(t))...) {
		found := pods(render(t, args...))
		if len(found) != len(services)+2 {
			t.Errorf("%q: %d kinds of pod", args, len(found))
		}
		user := "65532"
		if strings.Contains(strings.Join(args, " "), "openshift.yaml") {
			user = "<nil>" // the cluster's
		}
		for name, pod := range found {
			for path, want := range map[string]string{"runAsNonRoot": "true", "runAsUser": user, "fsGroup": "<nil>",
				"seccompProfile": "map[type:RuntimeDefault]"} {
				if got := fmt.Sprint(walk(pod, "securityContext", path)); got != want {
					t.Errorf("%s: %s is %s", name, path, got)
				}
			}
			if walk(pod, "automountServiceAccountToken") != false || walk(pod, "enableServiceLinks") != false {
				t.Errorf("%s gets a token or variables of other services", name)
			}
			for _, container := range list(walk(pod, "containers")) {
				for path, want := range map[string]string{"allowPrivilegeEscalation": "false",
					"readOnlyRootFilesystem": "true", "capabilities": "map[drop:[ALL]]"} {
					if got := fmt.Sprint(walk(container, "securityContext", path)); got != want {
						t.Errorf("%s: %s is %s", name, path, got)
					}
				}
				for _, path := range [][]any{{"requests", "cpu"}, {"requests", "memory"}, {"limits", "memory"}} {
					if walk(walk(container, "resources"), path...) == nil {
						t.Errorf("%s has no %s", name, path)
					}
				}
			}
		}
	}
}

// OpenShift chooses user and groups, and its name servers' pods listen at another port.
func TestWhatOpenShiftNeedsCanBeSet(t *testing.T) {
	unset := []string{"--set", "podSecurity.runAsUser=null,podSecurity.runAsGroup=null,networkPolicy.dnsPorts[0]=5353"}
	for _, version := range []string{"helm 3", "helm 4"} {
		out, errs, err := template(version, unset...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", version, err, errs)
		}
		objects := parse(t, out)
		for name, pod := range pods(objects) {
			got := fmt.Sprint(walk(pod, "securityContext"))
			if got != "map[runAsNonRoot:true seccompProfile:map[type:RuntimeDefault]]" {
				t.Errorf("%s, %s: %s", version, name, got)
			}
		}
		for name, policy := range only(objects, "NetworkPolicy") {
			if got := openings(policy, "egress", "to"); len(got) > 0 && got[0] != "any UDP5353,TCP5353" {
				t.Errorf("%s, %s: %q", version, name, got)
			}
		}
	}
	objects := render(t, "--set", "podSecurity.runAsUser=1000680000,podSecurity.fsGroup=1000680000")
	given := walk(pods(objects)["Job belfry-migrate"], "securityContext")
	if got := fmt.Sprint(walk(given, "runAsUser"), " ", walk(given, "fsGroup")); got != "1000680000 1000680000" {
		t.Errorf("the ids are %s", got)
	}
}

// Pods of a lost node are replaced sooner than Kubernetes would, and other tolerations stay.
func TestPodsOfALostNodeAreReplaced(t *testing.T) {
	objects := render(t, "--set", "services.notes.lostNodeSeconds=20,defaults.tolerations[0].key=school")
	for service, want := range map[string]string{"notes": "20", "events": "60"} {
		var got []string
		for _, toleration := range list(only(objects, "Deployment")["belfry-"+service].at("spec", "template", "spec",
			"tolerations")) {
			got = append(got, fmt.Sprint(walk(toleration, "key"), walk(toleration, "effect"),
				walk(toleration, "tolerationSeconds")))
		}
		wanted := fmt.Sprintf("[node.kubernetes.io/not-readyNoExecute%s node.kubernetes.io/unreachableNoExecute%[1]s "+
			"school<nil><nil>]", want)
		if strings.ReplaceAll(fmt.Sprint(got), " <nil>", "<nil>") != wanted {
			t.Errorf("%s tolerates %q, want %s", service, got, wanted)
		}
	}
}

func TestStoppingHasTimeForAllThatItDoes(t *testing.T) {
	for set, want := range map[string]string{"shutdown.drainSeconds=5": "40",
		"shutdown.drainSeconds=20,shutdown.stopSeconds=60": "145"} {
		objects := render(t, "--set", set)
		for _, service := range services {
			got := fmt.Sprint(only(objects, "Deployment")["belfry-"+service].at("spec", "template", "spec",
				"terminationGracePeriodSeconds"))
			if got != want {
				t.Errorf("%s, %s: %s, want %s", set, service, got, want)
			}
		}
	}
}

func TestGoIsToldNineTenthsOfTheMemory(t *testing.T) {
	for limit, want := range map[string]int{"64Mi": 57, "256Mi": 230, "1Gi": 921} {
		objects := render(t, "--set", "services.notes.resources.limits.memory="+limit)
		container := only(objects, "Deployment")["belfry-notes"].at("spec", "template", "spec", "containers", 0)
		env := environment(t, container, object{"data": map[string]any{}})
		got := regexp.MustCompile(`^(\d+)MiB`).FindStringSubmatch(env["GOMEMLIMIT"])
		if got == nil || got[1] != strconv.Itoa(want) {
			t.Errorf("%s: %q, want %d MiB", limit, env["GOMEMLIMIT"], want)
		}
	}
}

func TestPodsProbeTheHealthPort(t *testing.T) {
	for name, deployment := range only(render(t), "Deployment") {
		container := deployment.at("spec", "template", "spec", "containers", 0)
		for probe, path := range map[string]string{"startupProbe": "/startupz", "livenessProbe": "/livez",
			"readinessProbe": "/readyz"} {
			if got := fmt.Sprint(walk(container, probe, "httpGet")); got != "map[path:"+path+" port:health]" {
				t.Errorf("%s: %s asks %s", name, probe, got)
			}
		}
		ports := fmt.Sprint(walk(container, "ports"))
		if ports != "[map[containerPort:8080 name:public] map[containerPort:8081 name:internal] "+
			"map[containerPort:9090 name:health]]" {
			t.Errorf("%s has the ports %s", name, ports)
		}
		strategy := fmt.Sprint(deployment.at("spec", "strategy", "rollingUpdate"))
		if strategy != "map[maxSurge:1 maxUnavailable:0]" {
			t.Errorf("%s is rolled by %s", name, strategy)
		}
	}
}

func TestScaling(t *testing.T) {
	fixed := render(t, "--set", "services.notes.replicas=1,services.events.replicas=3")
	if got := fmt.Sprint(only(fixed, "Deployment")["belfry-events"].at("spec", "replicas")); got != "3" {
		t.Errorf("events has %s replicas", got)
	}
	scaled := render(t, "--set",
		"services.events.autoscaling.enabled=true,services.events.autoscaling.minReplicas=1,"+
			"services.events.autoscaling.maxReplicas=9")
	scalers := only(scaled, "HorizontalPodAutoscaler")
	got := scalers["belfry-events"]
	scale := fmt.Sprintf("%v to %v of %v", got.at("spec", "minReplicas"), got.at("spec", "maxReplicas"),
		got.at("spec", "scaleTargetRef", "name"))
	if len(scalers) != 1 || scale != "1 to 9 of belfry-events" {
		t.Errorf("scalers %v", scalers)
	}
	if got := only(scaled, "Deployment")["belfry-events"].at("spec", "replicas"); got != nil {
		t.Errorf("each upgrade would set the replicas of events to %v", got)
	}
}

// However many pods a service has, now or by its autoscaler, one of them may leave at a time. So a single one may.
func TestEveryServiceHasABudgetOfOne(t *testing.T) {
	for _, set := range []string{"defaults.replicas=1", "defaults.replicas=3",
		"defaults.autoscaling.enabled=true,defaults.autoscaling.minReplicas=1,defaults.autoscaling.maxReplicas=6"} {
		budgets := only(render(t, "--set", set), "PodDisruptionBudget")
		for _, service := range services {
			budget := budgets["belfry-"+service]
			delete(budget["spec"].(map[string]any), "selector")
			got := fmt.Sprint(budget["spec"])
			if got != "map[maxUnavailable:1 unhealthyPodEvictionPolicy:AlwaysAllow]" {
				t.Errorf("%s: the budget of %s is %s", set, service, got)
			}
		}
	}
	if got := only(render(t, "--set", "podDisruptionBudget.enabled=false"), "PodDisruptionBudget"); len(got) > 0 {
		t.Errorf("budgets although there are to be none: %v", got)
	}
}

func TestStoppedRunsNoPod(t *testing.T) {
	objects := render(t, "--set", "stopped=true,services.events.autoscaling.enabled=true")
	// With a store away a migration would fail, and the stop with it.
	if jobs := only(objects, "Job"); len(jobs) > 0 || only(objects, "NetworkPolicy")["belfry-migrate"] != nil {
		t.Errorf("stopping migrates: %v", jobs)
	}
	for name, deployment := range only(objects, "Deployment") {
		if got := fmt.Sprint(deployment.at("spec", "replicas")); got != "0" {
			t.Errorf("%s has %s replicas", name, got)
		}
	}
	if scalers := only(objects, "HorizontalPodAutoscaler"); len(scalers) > 0 {
		t.Errorf("a scaler would start pods: %v", scalers)
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

func TestImages(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	objects := render(t, "--set", "image.registry=registry.example:5000/school/,image.tag=1.2.3,services.notes.digest="+
		digest+",test.digest="+digest)
	for service, want := range map[string]string{"events": "registry.example:5000/school/belfry-events:1.2.3",
		"notes": "registry.example:5000/school/belfry-notes@" + digest} {
		got := only(objects, "Deployment")["belfry-"+service].at("spec", "template", "spec", "containers", 0, "image")
		if got != want {
			t.Errorf("%s runs %s", service, got)
		}
	}
	got := only(objects, "Pod")["belfry-test"].at("spec", "containers", 0, "image")
	if got != "registry.example:5000/school/belfry-belfryctl@"+digest {
		t.Errorf("helm test runs %s", got)
	}
}

// Two releases in a namespace share no object, and neither selects the other's pods.
func TestSeveralReleasesInOneNamespace(t *testing.T) {
	release := func(name string) (ids, selectors map[string]bool) {
		t.Helper()
		out, errs, err := helm("helm 3",
			append([]string{"template", name, "charts/belfry", "--namespace", "schools", "--kube-version", kubernetes},
				everything()...)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
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
		if second[id] {
			t.Errorf("both have %s", id)
		}
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
		out, errs, err := helm("helm 3", "template", "belfry", chart, "--namespace", "schools", "--kube-version",
			kubernetes, "--set", set, "--show-only", "templates/notes.yaml")
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		notes := fmt.Sprint(parse(t, out)[0]["notes"])
		for _, text := range want {
			if !strings.Contains(notes, text) {
				t.Errorf("%s: no %q in\n%s", set, text, notes)
			}
		}
	}
}

// notesAsAnObject returns a copy of the chart whose notes are an object: Helm shows notes only with a cluster.
func notesAsAnObject(t *testing.T) string {
	t.Helper()
	dir := copied(t, filepath.Join(t.TempDir(), "belfry"))
	notes, err := os.ReadFile(filepath.Join(dir, "templates", "NOTES.txt"))
	if err != nil {
		t.Fatal(err)
	}
	object := "{{ define \"notes\" }}" + string(notes) + "{{ end }}\nnotes: {{ include \"notes\" . | toJson }}\n"
	if err := os.WriteFile(filepath.Join(dir, "templates", "notes.yaml"), []byte(object), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
