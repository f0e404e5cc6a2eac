# Sourced. A node is lost under load: its cable is cut. No one is told; requests to its pods stay unanswered until
# Kubernetes finds out, and takes the pods away from their Services. So a client waits for an answer, and then for a
# while before it tries once more: together longer than that takes.

check_loss() {
	step "node3 lost under load, and with it half of all pods: its cable is cut"
	school rollout restart deployment >/dev/null
	school rollout status deployment --timeout=120s >/dev/null
	runs now
	pods_spread
	login
	local generator
	inside "$RUN/patient" -targets "$RUN/targets" -ca "$PKI/ca.crt" -cookie "$(session)" -rate 50 \
		-patience 15s -pause 20s \
		>"$RUN/log/patient.log" 2>&1 &
	generator=$!
	sleep 5
	lose_node3
	sleep 10
	inside pkill -INT -x patient
	wait "$generator" || fail "the client: $(cat "$RUN/log/patient.log")"
	say "$(cat "$RUN/log/patient.log")"
	grep -q 'after one retry: 0;' "$RUN/log/patient.log" || fail "requests failed that were repeated once"
}

lose_node3() {
	local began=$SECONDS
	inside ip link set node3 down
	say "cut"
	wait_for 90 lost node3 || fail "Kubernetes does not notice that node3 is lost"
	wait_for 30 withdrawn || fail "the lost pods still belong to their Services"
	say "after $((SECONDS - began)) s Kubernetes has noticed, and the lost pods are no longer asked"
	sleep 15
	inside ip link set node3 up
	began=$SECONDS
	wait_for 120 kubectl wait --for=condition=Ready node/node3 --timeout=1s || fail "node3 does not come back"
	wait_for 60 only now
	say "the cable is mended; $((SECONDS - began)) s later all pods serve"
}

lost() { [ "$(kubectl get node "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')" != True ]; }

# withdrawn says whether no Service has a ready pod on node3.
withdrawn() {
	school get endpointslices -o json |
		jq -e '[.items[].endpoints[] | select(.nodeName == "node3" and .conditions.ready)] == []'
}
