# Sourced. A run without load and front door, for a machine that is slow or new: three nodes, the chart from this
# checkout, helm test, and nothing left.

# short FOLDER has the images of the chart in FOLDER, with the tag now.
short() {
	local before after images=${1:?the folder with the archives of the images is missing}
	require_down
	install_packages
	require_possible
	say "$(nproc) processors, $(uname -r)"
	machine_says
	before=$(traces)
	trap 'ended $?' EXIT
	step "bringing the cluster up"
	up
	names_up
	need 90 node1-kubelet names_serve
	stores_up
	kubectl get nodes --label-columns=topology.kubernetes.io/zone | while read -r line; do say "$line"; done
	load "$images"/*.tar
	step "helm install, in a namespace that enforces the restricted pod security standard"
	CHART=("$CHECKOUT/charts/belfry")
	found_school
	release now --set ingress.enabled=false,httpRoute.enabled=false >/dev/null
	runs now
	pods_spread
	check_helm_test
	check_uninstall
	step "bringing the cluster down"
	machine_down
	trap - EXIT
	after=$(traces)
	diff <(echo "$before") <(echo "$after") || fail "the cluster left the above behind"
	say "nothing is left: no process, mount, network, control group, packet filter rule, setting or file"
	printf '\n%4d s  PASSED\n' "$SECONDS"
}
