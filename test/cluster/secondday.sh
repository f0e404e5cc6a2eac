# Sourced. The chart on the day after, where things fail: an install without a migration's end, a stop without stores, a
# pod that has to leave. It needs a control plane and a node, no images and no stores.

day() { kubectl --namespace day "$@"; }

# day_release [ARGUMENTS...] installs the release or upgrades it, as docs/operate.md says.
day_release() {
	helm upgrade --install day "$CHECKOUT/charts/belfry" --namespace day --values "$HERE/values.yaml" \
		--set ingress.enabled=false,httpRoute.enabled=false "$@"
}

second_day() {
	local left
	kubectl create namespace day >/dev/null
	day_release --timeout 3s >"$RUN/log/day.log" 2>&1 && fail "an install passes although its migration has not ended"
	[ "$(day get job day-belfry-migrate -o jsonpath='{.status.active}')" = 1 ] ||
		fail "Helm's patience ended the migration: $(day describe job)"
	day get networkpolicy day-belfry-migrate >/dev/null
	day_release --set stopped=true --wait --timeout 60s >"$RUN/log/day.log" 2>&1 ||
		fail "after an install that failed, without stores, it cannot be stopped: $(cat "$RUN/log/day.log")"
	say "Helm gives up a migration and leaves it its network policy; the same command goes on, and stops without stores"
	day_budget
	helm template school.north "$CHECKOUT/charts/belfry" --values "$HERE/values.yaml" --no-hooks \
		--kube-version "$KUBERNETES_VERSION" >"$RUN/chart.yaml"
	kubectl apply --server-side --dry-run=server -f "$RUN/chart.yaml" >/dev/null
	say "the apiserver accepts a release whose name has a dot"
	day_wait
	helm uninstall day --namespace day >/dev/null
	day delete job,pod,networkpolicy --selector app.kubernetes.io/instance=day >/dev/null 2>&1
	left=$(day get job,pod,networkpolicy,service,deployment,configmap -o name)
	! grep -qv kube-root-ca <<<"$left" ||
		fail "uninstalling left $(day get all,networkpolicy,configmap -o name)"
	say "the guide's two commands for uninstalling leave nothing"
}

# day_budget: pods with the labels of notes, behind the release's own budget.
day_budget() {
	local pods
	day apply -f - >/dev/null <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: lodger}
		spec:
		  replicas: 1
		  selector: {matchLabels: {lodger: notes}}
		  template:
		    metadata:
		      labels:
		        lodger: notes
		        app.kubernetes.io/name: belfry
		        app.kubernetes.io/instance: day
		        app.kubernetes.io/component: notes
		    spec: {containers: [{name: pause, image: "$PAUSE_IMAGE"}]}
	END
	wait_for 60 allowed 1 1 || fail "the budget forbids a single pod to leave: $(day describe poddisruptionbudget)"
	day_evict "$(lodgers | head -1)" >/dev/null || fail "a single pod cannot be evicted"
	day scale deployment lodger --replicas=6 >/dev/null
	wait_for 60 allowed 1 6 || fail "the budget of six pods: $(day describe poddisruptionbudget day-belfry-notes)"
	pods=$(lodgers)
	day_evict "$(head -1 <<<"$pods")" >/dev/null || fail "the first of six pods cannot be evicted"
	! day_evict "$(tail -1 <<<"$pods")" 2>"$RUN/log/evict.log" || fail "two of six pods were evicted at once"
	say "a budget lets a single pod leave, and of six one at a time"
}

# allowed PODS HEALTHY succeeds when the budget lets so many pods leave, of so many.
allowed() {
	[ "$(day get poddisruptionbudget day-belfry-notes \
		-o jsonpath='{.status.disruptionsAllowed} {.status.currentHealthy}')" = "$1 $2" ]
}

lodgers() {
	day get pods --selector lodger=notes --field-selector status.phase=Running \
		-o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'
}

day_evict() {
	printf '{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s", "namespace": "day"}}' "$1" |
		kubectl create --raw "/api/v1/namespaces/day/pods/$1/eviction" -f -
}

# day_wait runs the guide's wait for the last pod, while pods are ending.
day_wait() {
	local wait
	wait=$(commands "Change settings" | grep -A1 '^kubectl wait pod' | sed 's/ belfry / day /; s/=belfry /=day /')
	day delete job day-belfry-migrate >/dev/null # else the wait is for its deadline
	day delete deployment lodger --wait=false >/dev/null
	inside env KUBECONFIG="$RUN/admin.kubeconfig" PATH="$KUBERNETES:$PATH" sh -c "$wait" >"$RUN/log/wait.log" 2>&1 ||
		fail "the guide's wait for the last pod: $(cat "$RUN/log/wait.log")"
	[ -z "$(day get pods --field-selector status.phase=Running -o name)" ] ||
		fail "pods run after the guide's wait: $(day get pods)"
	say "after the guide's wait no pod runs: $(tail -1 "$RUN/log/wait.log")"
}
