// Package fleet plans processes of the services on one machine, without a cluster: their addresses, the balancers by
// which the services reach each other, and the environment of each process. Local runs, tests and make endure start
// the processes that it plans, each in its own way.
package fleet

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
)

// Options of a fleet.
type Options struct {
	// Replicas are the processes, with Service and Program set.
	Replicas []*Replica
	// Variables (NAME=value) of every process, in addition to the caller's environment and to those that the fleet
	// sets, or instead of them. Only identity gets BOOTSTRAP_ADMIN_UUID, only events BELFRY_SMTP_PASSWORD, and only the
	// console BELFRY_PUBLIC_TOKEN.
	Variables []string
	// Table is that of the public paths. A console calls the other services by it.
	Table routes.Table
	// Through returns the URL by which the other services reach the service at the given URL; nil: the same.
	Through func(service, url string) (string, error)
}

// Replica is one process of a service.
type Replica struct {
	Service string
	Program string // path of the binary

	Public, Internal, Health string // host:port; New sets them
	Environment              []string
}

// Fleet has the replicas that Options named, and the balancers between the services.
type Fleet struct {
	Replicas  []*Replica
	balancers []*frontdoor.Balancer
}

// onlyOf names the one service that gets a variable, as in the chart. All services get the other variables.
var onlyOf = map[string]string{
	"BOOTSTRAP_ADMIN_UUID": "identity", "BELFRY_SMTP_PASSWORD": "events", apiRoutes: names.Console,
	"BELFRY_PUBLIC_TOKEN": names.Console,
}

// apiRoutes says where the console finds the interface.
const apiRoutes = "BELFRY_API_ROUTES"

// gets says whether a service gets a variable. The console keeps no data, so it gets no store's address.
func gets(service, variable string) bool {
	if service == names.Console && (variable == "MONGODB_URI" || variable == "REDIS_URL") {
		return false
	}
	only, one := onlyOf[variable]
	return !one || only == service
}

// New chooses the addresses of the replicas, sets their environment, and starts the balancers. The caller closes the
// fleet, also after an error of its own; after an error of New nothing is left.
func New(o Options) (_ *Fleet, err error) {
	f := &Fleet{Replicas: o.Replicas}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	addresses, err := frontdoor.Addresses(3 * len(f.Replicas)) // at once, so that they differ
	if err != nil {
		return nil, err
	}
	var services []string
	internal := map[string][]string{}
	for i, r := range f.Replicas {
		r.Public, r.Internal, r.Health = addresses[3*i], addresses[3*i+1], addresses[3*i+2]
		if internal[r.Service] == nil && r.Service != names.Console { // no service asks the console
			services = append(services, r.Service)
		}
		internal[r.Service] = append(internal[r.Service], r.Internal)
	}
	shared := append(os.Environ(), "BELFRY_SECURE_COOKIES=false", "BELFRY_DRAIN_DELAY=0s")
	for _, service := range services {
		balancer, err := frontdoor.Balance(internal[service])
		if err != nil {
			return nil, err
		}
		f.balancers = append(f.balancers, balancer)
		url := "http://" + balancer.Address
		if o.Through != nil {
			if url, err = o.Through(service, url); err != nil {
				return nil, err
			}
		}
		shared = append(shared, "BELFRY_"+strings.ToUpper(service)+"_URL="+url)
	}
	if internal[names.Console] != nil {
		door, err := frontdoor.Inside(o.Table, f.Public())
		if err != nil {
			return nil, err
		}
		f.balancers = append(f.balancers, door)
		shared = append(shared, apiRoutes+"=/=http://"+door.Address)
	}
	for _, r := range f.Replicas {
		all := append(slices.Clone(shared), "BELFRY_LISTEN="+r.Public, "BELFRY_INTERNAL_LISTEN="+r.Internal,
			"BELFRY_HEALTH_LISTEN="+r.Health)
		for _, variable := range append(all, o.Variables...) {
			name, _, _ := strings.Cut(variable, "=")
			if gets(r.Service, name) {
				r.Environment = append(r.Environment, variable)
			}
		}
	}
	return f, nil
}

// Public returns the addresses of the replicas' public listeners, by service, as frontdoor.New takes them.
func (f *Fleet) Public() map[string][]string {
	all := map[string][]string{}
	for _, r := range f.Replicas {
		all[r.Service] = append(all[r.Service], r.Public)
	}
	return all
}

// Close closes the balancers. It stops no process.
func (f *Fleet) Close() {
	for _, b := range f.balancers {
		b.Close()
	}
}

// Command returns the command that starts the process.
func (r *Replica) Command() *exec.Cmd {
	command := exec.Command(r.Program)
	command.Env = r.Environment
	return command
}

// Ready reports whether the process is ready for requests.
func (r *Replica) Ready(ctx context.Context) bool {
	return process.Serves("http://" + r.Health + "/readyz")(ctx)
}

// Packages returns the Go packages of services' programs, relative to the checkout.
func Packages(services []string) []string {
	return sequence.Map(services, func(service string) string { return "./services/" + service + "/cmd/" + service })
}
