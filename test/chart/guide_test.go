package chart_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// commands are the commands of Helm that the project's texts tell readers to run, by the file, with continued lines
// joined.
func commands(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	files := []string{"README.md", "docs/operate.md", "docs/development.md", "deploy/examples/README.md",
		"deploy/examples/valkey.yaml", "charts/belfry/README.md", "charts/belfry/templates/NOTES.txt"}
	for _, file := range append(files, examples(t)...) {
		joined := regexp.MustCompile(`\\\n#? *`).ReplaceAllString(checkout.Read(t, file), "")
		found[file] = regexp.MustCompile(`(?m)helm (install|upgrade) .*$`).FindAllString(joined, -1)
	}
	if len(found["docs/operate.md"]) < 4 || len(found[examples(t)[0]]) == 0 {
		t.Fatalf("the texts name the commands %q", found)
	}
	return found
}

// shut are the settings by which the guide starts Belfry without a front door.
const shut = "--set ingress.enabled=false --set httpRoute.enabled=false"

// One command installs and upgrades, also after a failed first install, with all settings in the file, so that the next
// one does not undo them. Only stopping, and shutting the front door, are temporary.
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
	stops := strings.Split(checkout.Read(t, "docs/operate.md"), "--set stopped=true")
	for _, after := range stops[1:] {
		_, next, _ := strings.Cut(after, "\n")
		if !strings.HasPrefix(next, "kubectl wait pod ") || !strings.Contains(strings.SplitN(next, "```", 2)[0],
			"--for=delete") {
			t.Errorf("after a stop comes %.80q", next)
		}
	}
	valuetest.Holds(t, len(stops) >= 2, "the guide does not stop Belfry")
}

// Whatever logs in as the first administrator fails once the guide has deactivated that account.
func TestTheGuideNamesWhatLogsInAsTheFirstAdministrator(t *testing.T) {
	_, section, _ := strings.Cut(checkout.Read(t, "docs/operate.md"), "\n## The first administrator\n")
	section, _, _ = strings.Cut(section, "\n## ")
	borrowed := regexp.MustCompile(`that of adminUuid when the key is empty\n  (\w+):`).
		FindAllStringSubmatch(checkout.Read(t, "charts/belfry/values.yaml"), -1)
	valuetest.MustHold(t, len(borrowed) >= 2, "only %q", borrowed)
	for _, value := range borrowed {
		valuetest.Has(t, section, "`secrets."+value[1]+"`", "the section on the first administrator")
	}
}

// While persons are erased again after a restore no user comes in, and the services run, as renders.txt has it.
func TestTheGuideShutsTheFrontDoorAfterARestore(t *testing.T) {
	joined := regexp.MustCompile(`\\\n *`).ReplaceAllString(checkout.Read(t, "docs/operate.md"), "")
	const repeated = "--again erased.json --really"
	if closed, again := strings.Index(joined, shut), strings.Index(joined, repeated); closed < 0 ||
		again < closed {
		t.Error("the guide erases before it has shut the front door")
	}
}

// The examples of retries repeat what is safe and nothing else, and Traefik finds what its annotation names.
func TestTheExamplesOfRetriesRepeatWhatIsSafe(t *testing.T) {
	const examples = "deploy/examples/"
	text := checkout.Read(t, examples+"traefik-retry.yaml")
	if said, err := kubeconform(text); err != nil || !strings.Contains(said, "Valid: 1, Invalid: 0") {
		t.Errorf("%v\n%s", err, said)
	}
	middleware := parse(t, text)[0]
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
			examples+file), "Ingress")["belfry"]
		if got := ingress.at("metadata", "annotations", name); got != value {
			t.Errorf("%s: %s is %v, want %s", file, name, got, value)
		}
	}
}
