package chart_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// scored is what kube-score finds in the objects of some values: the checks that failed, each with the objects.
func scored(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	command := exec.Command(os.Getenv("KUBESCORE"), "score", "-", "--output-format", "json", "--all-default-optional",
		"--ignore-container-cpu-limit", "--kubernetes-version", "v1.36")
	command.Stdin = strings.NewReader(template(t, "helm 3", args...))
	text, err := command.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var objects []struct {
		TypeMeta   struct{ Kind string }              `json:"type_meta"`
		ObjectMeta struct{ Labels map[string]string } `json:"object_meta"`
		Checks     []struct {
			Check    struct{ ID string }
			Grade    int
			Skipped  bool
			Comments []struct{ Path, Summary string }
		}
	}
	if err := json.Unmarshal(text, &objects); err != nil || len(objects) < 10 {
		t.Fatalf("%d objects, %v\n%s", len(objects), err, text)
	}
	const allRight = 10
	found := map[string][]string{}
	for _, o := range objects {
		for _, check := range o.Checks {
			if !check.Skipped && check.Grade < allRight {
				component := o.ObjectMeta.Labels["app.kubernetes.io/component"]
				found[check.Check.ID] = append(found[check.Check.ID],
					fmt.Sprintf("%s %s: %v", o.TypeMeta.Kind, component, check.Comments))
			}
		}
	}
	return found
}

// kube-score reports only what testdata/accepted.txt gives a reason for, and still reports all of that. There is no
// limit of CPU, on purpose.
func TestTheChartIsAsKubeScoreAdvises(t *testing.T) {
	reasons, used := pairs(t, "accepted.txt"), map[string]bool{}
	for _, args := range [][]string{{}, everything(), {"--values", "charts/belfry/examples/school.yaml"},
		{"--values", "charts/belfry/examples/platform.yaml"}} {
		for check, objects := range scored(t, args...) {
			for _, o := range objects {
				of, _, _ := strings.Cut(o, ":")
				switch one := check + " " + of; {
				case reasons[check] != "":
					used[check] = true
				case reasons[one] != "":
					used[one] = true
				default:
					t.Errorf("%q: %s %s", args, check, o)
				}
			}
		}
	}
	for check := range reasons {
		if !used[check] {
			t.Errorf("%s is accepted, and no longer advised", check)
		}
	}
}

// A chart that kube-score advises against is found, so that the test above can fail.
func TestKubeScoreFindsWhatIsWrong(t *testing.T) {
	if found := scored(t, "--set", "networkPolicy.enabled=false"); len(found["pod-networkpolicy"]) == 0 {
		t.Errorf("it does not miss the policies: %v", found)
	}
}
