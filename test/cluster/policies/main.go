// Command policies enforces NetworkPolicies on one node, as the network plugin of a real cluster does: with the
// controller of kube-router, which writes packet filter rules. The bridge plugin of the cluster enforces none.
//
// Its arguments are the services' network and the node's name; KUBECONFIG names the apiserver and its user. It runs
// until it is killed.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("arguments: the services' network, and the node's name")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	settings := options.NewKubeRouterConfig()
	settings.ClusterIPCIDRs, settings.HostnameOverride = args[:1], args[1]
	settings.EnableIPv4, settings.EnableIPv6, settings.RunFirewall = true, false, true
	settings.IPTablesSyncPeriod = 30 * time.Second // beside the syncs that changes cause

	stop := make(chan struct{}) // never closed: it runs until it is killed
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	filters, sets, err := netpol.NewIPTablesHandlers(settings)
	if err != nil {
		return err
	}
	controller, err := netpol.NewNetworkPolicyController(client, settings, pods, policies, namespaces,
		&sync.Mutex{}, filters, sets)
	if err != nil {
		return err
	}
	if _, err = pods.AddEventHandler(controller.PodEventHandler); err != nil {
		return err
	}
	if _, err = policies.AddEventHandler(controller.NetworkPolicyEventHandler); err != nil {
		return err
	}
	if _, err = namespaces.AddEventHandler(controller.NamespaceEventHandler); err != nil {
		return err
	}

	beats := make(chan *healthcheck.ControllerHeartbeat, 1)
	go func() {
		for range beats { // it waits until they are taken
			continue
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	controller.Run(beats, stop, &running)
	return nil
}
