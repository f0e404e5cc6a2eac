package chart_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// helmsTimeout is how long Helm waits for a hook unless --timeout says otherwise.
const helmsTimeout = 5 * time.Minute

// The Job ends before Helm's patience does. Where it is given longer, its policy stays as long as it may run: Helm
// deletes a hook that has succeeded, as a policy does at once, when a later one fails or takes too long.
func TestTheMigrationIsNotCutOff(t *testing.T) {
	objects := render(t)
	seconds, err := strconv.Atoi(fmt.Sprint(only(objects, "Job")["belfry-migrate"].at("spec",
		"activeDeadlineSeconds")))
	if err != nil || time.Duration(seconds)*time.Second > helmsTimeout-30*time.Second {
		t.Errorf("the Job may take %d s, %v", seconds, err)
	}
	policy := only(objects, "NetworkPolicy")["belfry-migrate"]
	got := policy.at("metadata", "annotations", "helm.sh/hook-delete-policy")
	if got != "before-hook-creation" {
		t.Errorf("the policy of the migration goes on %v", got)
	}
}

// The four containers together reserve at most what a pod of one service does, by default and for a district.
func TestTheMigrationFindsRoomWhereAServiceDoes(t *testing.T) {
	for _, args := range append([][]string{{}}, valuesArgs(examples(t))...) {
		objects := render(t, args...)
		for _, resource := range []string{"cpu", "memory"} {
			sum := 0
			for _, container := range list(only(objects, "Job")["belfry-migrate"].at("spec", "template", "spec",
				"containers")) {
				sum += quantity(t, walk(container, "resources", "requests", resource))
			}
			for _, service := range services {
				own := quantity(t, only(objects, "Deployment")["belfry-"+service].at("spec", "template", "spec",
					"containers", 0, "resources", "requests", resource))
				if sum > max(own, 100) { // the example for development asks for less than the migration
					t.Errorf("%q: the migration asks for %d of %s, %s for %d", args, sum, resource, service, own)
				}
			}
		}
	}
}

// quantity is a number of thousandths of processors or of MiB.
func quantity(t *testing.T, value any) int {
	t.Helper()
	found := regexp.MustCompile(`^(\d+)(m|Mi)$`).FindStringSubmatch(fmt.Sprint(value))
	if found == nil {
		t.Fatalf("%v is no quantity of m or Mi", value)
	}
	number, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// What keeps a sidecar away reaches the pods that have to end, of the migration and of helm test.
func TestPodsThatEndTakeLabelsAndAnnotations(t *testing.T) {
	objects := render(t, "--set",
		"migration.labels.a=job,migration.annotations.a=job,migration.podLabels.a=pod,migration.podAnnotations.a=pod,"+
			"test.labels.a=test,test.annotations.a=test")
	job, pod := only(objects, "Job")["belfry-migrate"], only(objects, "Pod")["belfry-test"]
	for _, kind := range []string{"labels", "annotations"} {
		for want, got := range map[string]any{"job": job.at("metadata", kind, "a"),
			"pod": job.at("spec", "template", "metadata", kind, "a"), "test": pod.at("metadata", kind, "a")} {
			if got != want {
				t.Errorf("%s of the %s: %v", kind, want, got)
			}
		}
	}
	if job.at("metadata", "annotations", "helm.sh/hook") == nil || pod.at("metadata", "annotations",
		"helm.sh/hook") == nil {
		t.Error("they are no hooks any more")
	}
}

// Helm 3 asks for the logs of --logs after it has deleted a hook that succeeded.
func TestTheTestsPodStaysForItsLogs(t *testing.T) {
	got := only(render(t), "Pod")["belfry-test"].at("metadata", "annotations", "helm.sh/hook-delete-policy")
	if got != "before-hook-creation" {
		t.Errorf("the pod goes on %v", got)
	}
}
