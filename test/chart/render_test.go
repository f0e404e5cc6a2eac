package chart_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

var (
	root     string            // of the checkout
	programs map[string]string // Helm of both kinds, by name
	known    sync.Map          // what was rendered already, by the kind of Helm and its arguments
	services = slices.Sorted(slices.Values(names.All()))
	withData = slices.Sorted(slices.Values(names.WithData()))
)

// kubernetes is the version for which the chart is rendered.
const kubernetes = "1.36.4"

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// prepare runs .ci/chart, which fetches what is missing, and sets the variables that it exports.
func prepare() (err error) {
	if root, err = checkout.Root(); err != nil {
		return err
	}
	command := exec.Command(filepath.Join(root, ".ci", "chart"))
	command.Stderr = os.Stderr
	exports, err := command.Output()
	if err != nil {
		return fmt.Errorf(".ci/chart: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(exports))
	for lines.Scan() {
		variable := regexp.MustCompile(`^export (\w+)='(.*)'$`).FindStringSubmatch(lines.Text())
		if variable == nil {
			return fmt.Errorf(".ci/chart: %q", lines.Text())
		}
		if err := os.Setenv(variable[1], variable[2]); err != nil {
			return err
		}
	}
	programs = map[string]string{"helm 3": os.Getenv("HELM3"), "helm 4": os.Getenv("HELM4")}
	return nil
}

// helm runs one kind of Helm in the checkout.
func helm(version string, args ...string) (out, errs string, err error) {
	command := exec.Command(programs[version], args...)
	command.Dir = root
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	return stdout.String(), stderr.String(), err
}

// template renders the chart as a release belfry in the namespace schools; args are further ones of helm template.
func template(t *testing.T, version string, args ...string) string {
	t.Helper()
	key := version + " " + strings.Join(args, " ")
	if out, found := known.Load(key); found {
		return out.(string)
	}
	out := do(t, version, templating(args...)...)
	known.Store(key, out)
	return out
}

func templating(args ...string) []string {
	return append([]string{"template", "belfry", "charts/belfry", "--namespace", "schools", "--kube-version",
		kubernetes}, args...)
}

// copied copies the chart into a folder that is not there yet, and returns that folder.
func copied(t *testing.T, dir string) string {
	t.Helper()
	errortest.None(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "charts", "belfry"))))
	return dir
}

// everything is the arguments that enable all parts of the chart.
func everything() []string {
	return []string{"--values", "charts/belfry/examples/district.yaml", "--set",
		"ingress.enabled=true,ingress.className=traefik,ingress.tlsSecret=tls,mail.username=belfry," +
			"ingress.annotations.issuer=x,httpRoute.annotations.x=y,serviceMonitor.labels.team=a," +
			"prometheusRule.labels.team=a,commonLabels.team=b,defaults.podLabels.c=d," +
			"defaults.tolerations[0].key=x,defaults.nodeSelector.a=b," +
			"defaults.podAnnotations.a=b,defaults.priorityClassName=high," +
			"oneRoster.enabled=true,oneRoster.url=https://sis.example/v1p2," +
			"oneRoster.tokenUrl=https://sis.example/token," +
			"secrets.publicToken.key=public-token," +
			"allowedOrigins[0]=https://timetable.example,notesImageHosts[0]=img.example," +
			"securityTxt.contacts[0]=mailto:security@a.example,securityTxt.expires=2027-06-30T00:00:00Z," +
			"oidc.providers[0].name=google,oidc.providers[0].title=Google," +
			"oidc.providers[0].issuer=https://accounts.google.com,oidc.providers[0].clientId=x," +
			"oidc.providers[0].domains[0]=a.example,oidc.providers[0].clientSecret.key=google-secret," +
			"secretEnv.OTEL_EXPORTER_OTLP_HEADERS.name=otlp,secretEnv.OTEL_EXPORTER_OTLP_HEADERS.key=headers"}
}

// object is a rendered object.
type object map[string]any

// at returns the value at a path of field names and entry numbers, nil when there is none.
func (o object) at(path ...any) any { return walk(map[string]any(o), path...) }

func walk(value any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			fields, _ := value.(map[string]any)
			value = fields[key]
		case int:
			list, _ := value.([]any)
			if key >= len(list) {
				return nil
			}
			value = list[key]
		}
	}
	return value
}

func (o object) kind() string { return fmt.Sprint(o["kind"]) }
func (o object) name() string { return fmt.Sprint(o.at("metadata", "name")) }

// render returns the objects that Helm 3 renders with those arguments.
func render(t *testing.T, args ...string) []object {
	t.Helper()
	return parse(t, template(t, "helm 3", args...))
}

func parse(t *testing.T, text string) []object {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var all []object
	for {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		errortest.None(t, err)
		if o != nil {
			all = append(all, o)
		}
	}
}

// only returns the objects of a kind, by name.
func only(objects []object, kind string) map[string]object {
	found := map[string]object{}
	for _, o := range objects {
		if o.kind() == kind {
			found[o.name()] = o
		}
	}
	return found
}

// list returns a value that is a list, else nil.
func list(value any) []any {
	entries, _ := value.([]any)
	return entries
}

// podPaths are where the spec of a pod is, by the kind of the object that makes it.
var podPaths = map[string][]any{"Pod": {"spec"}, "Job": {"spec", "template", "spec"},
	"Deployment": {"spec", "template", "spec"}, "CronJob": {"spec", "jobTemplate", "spec", "template", "spec"}}

// pods are the specs of all pods of the objects, by the object's kind and name.
func pods(objects []object) map[string]map[string]any {
	specs := map[string]map[string]any{}
	for _, o := range objects {
		if path, has := podPaths[o.kind()]; has {
			specs[o.kind()+" "+o.name()], _ = o.at(path...).(map[string]any)
		}
	}
	return specs
}

// container returns a container of the pod of an object.
func container(objects []object, kind, name string, n int) any {
	return walk(pods(objects)[kind+" "+name], "containers", n)
}

// variants are arguments that render the chart as it comes, with all its parts, and with each example of values.
func variants(t *testing.T) [][]string {
	t.Helper()
	all := [][]string{{}, everything()}
	for _, values := range examples(t) {
		all = append(all, []string{"--values", values})
	}
	return all
}
