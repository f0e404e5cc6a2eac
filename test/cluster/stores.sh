# Sourced. The stores of the tests, run for this cluster alone, outside it, where they listen on the host's loopback
# address. Inside they are pods: an empty pod, in whose network a forwarder listens. So Services, names and network
# policies find them as they find any store that runs in the cluster.

# stores_up runs the stores until stores_down, and makes them available in the namespace stores, as mongodb and valkey.
stores_up() {
	go build -C "$CHECKOUT" -o "$RUN/run-stores" ./deploy/local/stores/cmd/stores
	(
		cd "$CHECKOUT" || exit
		exec env -u MONGODB_URI -u REDIS_URL STORES_DIR="$RUN/stores" setsid "$RUN/run-stores"
	) >"$RUN/addresses" 2>"$RUN/log/stores.log" </dev/null 8>&- &
	until grep -qs REDIS_URL "$RUN/addresses"; do
		kill -0 $! 2>/dev/null || fail "the stores did not come up: $(tail -5 "$RUN/log/stores.log")"
		sleep 0.2
	done
	kubectl create namespace stores >/dev/null
	store stores mongodb 27017 "$(address MONGODB_URI)" "app: mongodb"
	store stores valkey 6379 "$(address REDIS_URL)" "app: valkey"
}

# store NAMESPACE NAME PORT ADDRESS LABEL makes a pod and a Service through which an address outside is reached.
store() {
	stand_in "$1" "$2" node1 "$5"
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Service
		metadata: {name: $2, namespace: $1}
		spec: {selector: {$5}, ports: [{port: $3}]}
	END
	forward "$1" "$2" "$3" "$4"
}

# stand_in NAMESPACE NAME NODE LABEL makes an empty pod, which runs nothing but pause.
stand_in() {
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $2, namespace: $1, labels: {$4}}
		spec:
		  nodeSelector: {kubernetes.io/hostname: $3}
		  terminationGracePeriodSeconds: 1
		  containers: [{name: pause, image: "$PAUSE_IMAGE"}]
	END
	kubectl --namespace "$1" wait --for=condition=Ready "pod/$2" --timeout="$(patient 60)" >/dev/null
}

# forward NAMESPACE POD PORT ADDRESS lets a port of a pod reach an address outside. The forwarder enters the machine's
# namespaces, except the network's: it connects from the host's, and listens in the pod's.
forward() {
	local process
	process=$(pod_process "$1" "$2")
	nsenter --target "$MACHINE" --mount --pid -- \
		setsid sh -c 'log=$1; shift; exec "$@" >>"$log" 2>&1 </dev/null &' sh "$RUN/log/forward.log" \
		"$RUN/forward" "/proc/$process/ns/net" "0.0.0.0:$3=$4" 8>&-
	need 10 forward inside nsenter --target "$process" --net sh -c "ss -ltn | grep -q ':$3 '"
}

# pod_process NAMESPACE POD prints the number that the process of a pod's first container has in the machine.
pod_process() {
	local found
	found=$(kubectl --namespace "$1" get pod "$2" \
		-o jsonpath='{.spec.nodeName} {.status.containerStatuses[0].containerID}')
	ctr "${found%% *}" tasks list | awk -v id="${found##*/}" '$1 == id {print $2}'
}

# address VARIABLE prints the host:port of an address that the stores printed.
address() { sed -n "s,^export $1='[a-z]*://\([^/']*\).*,\1,p" "$RUN/addresses"; }

stores_down() {
	local pid
	if pid=$(cat "$RUN/stores/claim" 2>/dev/null) && [ "$(readlink "/proc/$pid/exe")" = "$RUN/run-stores" ]; then
		kill "$pid"
		wait_for 60 gone "$pid" || fail "the stores, process $pid, do not end"
	fi
	rm -rf "$RUN/stores"
}
