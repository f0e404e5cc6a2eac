package chart_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Releases may have names with dots, and names that begin with a digit; Services may not.
func TestNamesOfAllReleasesAreValid(t *testing.T) {
	label := regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	for _, installed := range []string{"belfry", "school.north", "2026", "1e3.belfry", "true",
		"a-name-that-is-longer.than-a-name-has-room-for"} {
		out := do(t, "helm 3", append([]string{"template", installed, "charts/belfry", "--kube-version",
			kubernetes}, everything()...)...)
		for _, o := range parse(t, out) {
			name, isText := o.at("metadata", "name").(string)
			if !isText || !label.MatchString(name) {
				t.Errorf("%s: %s %v", installed, o.kind(), o.at("metadata", "name"))
			}
			labels, _ := o.at("metadata", "labels").(map[string]any)
			for key, value := range labels {
				if _, isText := value.(string); !isText {
					t.Errorf("%s: the label %s of %s %s is %v", installed, key, o.kind(), name, value)
				}
			}
		}
		said, err := kubeconform(out)
		errortest.Report(t, err, "%s\n%s", installed, said)
	}
}

// A namespace, a Secret or a class may be called by a number, which YAML would take for one.
func TestNamesThatLookLikeNumbersStayText(t *testing.T) {
	out := do(t, "helm 3", "template", "belfry", "charts/belfry", "--namespace", "2026", "--kube-version", kubernetes,
		"--values", "charts/belfry/examples/platform.yaml", "--set-string",
		"secrets.name=2026,secrets.redisUrl.key=1.0,certificateAuthority.configMap=2026,"+
			"certificateAuthority.key=1e3,image.pullSecrets[0]=2026,defaults.priorityClassName=1000,"+
			"ingress.className=1,ingress.tlsSecret=2026")
	said, err := kubeconform(out)
	errortest.Report(t, err, "%s", said)
}

// The label says what runs, for every form of tag.
func TestTheVersionLabelIsTheVersionThatRuns(t *testing.T) {
	version := func(objects []object, kind, name string) string {
		t.Helper()
		return fmt.Sprint(only(objects, kind)[name].at("metadata", "labels", "app.kubernetes.io/version"))
	}
	for tag, want := range map[string]string{"1.2.3": "1.2.3", "_v1-": "v1", "": release.Version(),
		strings.Repeat("a", 62) + ".b": strings.Repeat("a", 62)} {
		objects := render(t, "--set", "image.tag="+tag)
		for _, got := range []string{version(objects, "Deployment", "belfry-notes"),
			version(objects, "Job", "belfry-migrate"), version(objects, "ConfigMap", "belfry")} {
			valuetest.Same(t, got, want, "the tag %q is the version", tag)
		}
	}
}
