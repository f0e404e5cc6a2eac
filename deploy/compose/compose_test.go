package compose

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The least that .env has.
var env = types.Mapping{
	"REGISTRY": "registry.school.example/belfry", "ADMIN_UUID": "the-administrators-uuid",
	"INTERNAL_TOKEN": strings.Repeat("x", 32),
}

// load reads compose.yaml as Compose does.
func load(t *testing.T, with types.Mapping) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: ".", ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml"}},
		Environment: maps.Clone(with), // it is added to
	}, func(o *loader.Options) { o.SetProjectName("belfry", true) })
}

func TestCompose_HasEveryServiceOfThisRelease(t *testing.T) {
	project, err := load(t, env)
	errortest.None(t, err)
	for _, name := range names.All() {
		s, err := project.GetService(name)
		if err != nil {
			t.Error(err)
			continue
		}
		valuetest.Same(t, s.Image, env["REGISTRY"]+"/belfry-"+name+":"+release.Version(), "%s: the image", name)
		known := checkout.Settings(t, name)
		for variable := range s.Environment {
			if variable != "GOMEMLIMIT" && !slices.Contains(known, variable) {
				t.Errorf("%s reads no variable %s", name, variable)
			}
		}
		stores, needs := []string{"mongodb", "valkey"}, []string{"BELFRY_INTERNAL_TOKEN", "MONGODB_URI", "REDIS_URL"}
		if name == names.Console {
			stores, needs = nil, needs[:1]
		}
		for _, needed := range needs {
			if value := s.Environment[needed]; value == nil || *value == "" {
				t.Errorf("%s has no %s", name, needed)
			}
		}
		if !s.ReadOnly || s.Restart != types.RestartPolicyUnlessStopped || s.MemLimit == 0 || len(s.Ports) > 0 {
			t.Errorf("%s can be written to, is not started again, has no limit, or is reached from outside", name)
		}
		for _, store := range stores {
			valuetest.Same(t, s.DependsOn[store].Condition, types.ServiceConditionHealthy,
				"%s does not wait for %s", name, store)
		}
	}
	door := project.Services["frontdoor"]
	if len(door.Ports) != 1 || door.Ports[0].HostIP != "127.0.0.1" {
		t.Errorf("without TLS the front door is for this machine alone: %+v", door.Ports)
	}
	trusted := *project.Services["identity"].Environment["BELFRY_TRUSTED_PROXIES"]
	console := project.Services[names.Console].Networks["belfry"].Ipv4Address
	valuetest.Same(t, trusted, door.Networks["belfry"].Ipv4Address+"/32,"+console+"/32",
		"what is trusted, and where the front door is")
	for _, store := range []string{"mongodb", "valkey"} {
		s := project.Services[store]
		if s.HealthCheck == nil || len(s.Volumes) != 1 || len(s.Ports) > 0 || len(s.Networks) != 1 {
			t.Errorf("%s: no check of its health, no volume, or it is reached from outside: %+v", store, s)
		}
	}
	valuetest.Holds(t, project.Networks["stores"].Internal, "the stores' network is not internal")
}

func TestCompose_SaysWhatIsMissing(t *testing.T) {
	for variable := range env {
		without := maps.Clone(env)
		delete(without, variable)
		if _, err := load(t, without); err == nil || !strings.Contains(err.Error(), variable) ||
			!strings.Contains(err.Error(), "README.md") {
			t.Errorf("without %s: %v", variable, err)
		}
	}
}
