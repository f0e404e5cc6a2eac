package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// platform is what the example of a platform team renders to: it sets what operators of clusters ask for.
func platform(t *testing.T, args ...string) []object {
	t.Helper()
	return render(t, append([]string{"--values", "charts/belfry/examples/platform.yaml"}, args...)...)
}

// Client certificates for the stores are needed by whatever opens a store: the services and the migration, beside the
// certificate authority.
func TestVolumesAreMountedInEveryContainerThatOpensAStore(t *testing.T) {
	const mounts = "[map[mountPath:/etc/belfry/ca name:ca readOnly:true] " +
		"map[mountPath:/etc/belfry/mongodb name:mongodb-client readOnly:true]]"
	found := 0
	for name, pod := range pods(platform(t, "--set", "certificateAuthority.configMap=ca")) {
		if name == "Pod belfry-test" {
			continue
		}
		if got := len(list(walk(pod, "volumes"))); got != 2 {
			t.Errorf("%s has %d volumes", name, got)
		}
		for _, container := range list(walk(pod, "containers")) {
			found++
			if got := fmt.Sprint(walk(container, "volumeMounts")); got != mounts {
				t.Errorf("%s: %v mounts %s", name, walk(container, "name"), got)
			}
		}
	}
	if found != 2*len(services) {
		t.Errorf("%d containers", found)
	}
}

func TestServicesAndTheirAccountsHaveTheirAnnotations(t *testing.T) {
	objects := platform(t, "--set", "services.notes.appProtocol=kubernetes.io/ws,"+
		"services.notes.serviceAnnotations.own=x,services.notes.serviceAccountAnnotations.own=y")
	for _, service := range services {
		annotations, account, protocol := map[string]any{"alb.ingress.kubernetes.io/healthcheck-path": "/healthz"},
			map[string]any{"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/belfry"}, "http"
		if service == "notes" {
			annotations["own"], account["own"], protocol = "x", "y", "kubernetes.io/ws"
		}
		o := only(objects, "Service")["belfry-"+service]
		if got := o.at("metadata", "annotations"); fmt.Sprint(got) != fmt.Sprint(annotations) {
			t.Errorf("the Service of %s has the annotations %v", service, got)
		}
		for _, port := range list(o.at("spec", "ports")) {
			if got := walk(port, "appProtocol"); got != protocol {
				t.Errorf("%v of %s has the protocol %v", walk(port, "name"), service, got)
			}
		}
		got := only(objects, "ServiceAccount")["belfry-"+service].at("metadata", "annotations")
		if fmt.Sprint(got) != fmt.Sprint(account) {
			t.Errorf("the account of %s has the annotations %v", service, got)
		}
	}
}

func TestBothFrontDoorsTakeEveryHost(t *testing.T) {
	hosts := []any{"belfry.district.example", "timetable.district.example"}
	objects := platform(t)
	ingress := only(objects, "Ingress")["belfry"]
	var got []any
	for _, rule := range list(ingress.at("spec", "rules")) {
		got = append(got, walk(rule, "host"))
		if n := len(list(walk(rule, "http", "paths"))); n < 30 {
			t.Errorf("%v has %d paths", walk(rule, "host"), n)
		}
	}
	certificate, route := list(ingress.at("spec", "tls", 0, "hosts")), only(objects, "HTTPRoute")["belfry"]
	if !slices.Equal(got, hosts) || !slices.Equal(certificate, hosts) {
		t.Errorf("the Ingress takes %v, with a certificate of %v", got, certificate)
	}
	if got := list(route.at("spec", "hostnames")); !slices.Equal(got, hosts) {
		t.Errorf("the HTTPRoute takes %v", got)
	}
	streams := 0
	for _, rule := range list(route.at("spec", "rules")) {
		want := "map[backendRequest:12s request:15s]"
		if strings.HasPrefix(fmt.Sprint(walk(rule, "matches", 0, "path", "value")), "/api/changes/stream") {
			want = "map[backendRequest:0s request:0s]" // it has no end
			streams++
		}
		if got := fmt.Sprint(walk(rule, "timeouts")); got != want {
			t.Errorf("a rule of the HTTPRoute has the timeouts %s, want %s", got, want)
		}
	}
	if streams == 0 {
		t.Error("the HTTPRoute has no rule for streams")
	}
}

// Further rules are for the services, and those for what goes out for the migration too; the policy that refuses all
// stays without any, and so does that of helm test.
func TestFurtherRulesOfPolicies(t *testing.T) {
	for name, policy := range only(platform(t), "NetworkPolicy") {
		service := slices.Contains(services, strings.TrimPrefix(name, "belfry-"))
		for direction, want := range map[string]bool{"ingress": service,
			"egress": service || name == "belfry-migrate"} {
			if got := strings.Contains(fmt.Sprint(policy.at("spec", direction)), "metadata.name:mesh"); got != want {
				t.Errorf("%s: a further rule for %s: %v", name, direction, got)
			}
		}
	}
}

func TestSpreadAndScaling(t *testing.T) {
	objects := platform(t, "--set", `defaults.spread.kubernetes\.io/hostname=null`)
	spread := list(only(objects, "Deployment")["belfry-events"].at("spec", "template", "spec",
		"topologySpreadConstraints"))
	if len(spread) != 1 || walk(spread[0], "topologyKey") != "topology.kubernetes.io/zone" ||
		walk(spread[0], "whenUnsatisfiable") != "DoNotSchedule" {
		t.Errorf("spread by %v", spread)
	}
	behavior := only(objects, "HorizontalPodAutoscaler")["belfry-events"].at("spec", "behavior")
	if fmt.Sprint(walk(behavior, "scaleDown")) != "map[stabilizationWindowSeconds:900]" ||
		fmt.Sprint(walk(behavior, "scaleUp", "policies", 0, "type")) != "Percent" {
		t.Errorf("scaled by %v", behavior)
	}
}

// Further objects may name what the release knows.
func TestFurtherObjects(t *testing.T) {
	binding := only(platform(t), "RoleBinding")["timetabling"]
	if got := binding.at("metadata", "namespace"); got != "schools" {
		t.Errorf("the namespace is %v", got)
	}
}
