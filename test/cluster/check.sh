# Sourced. The check of the chart on the cluster: what docs/kubernetes-check.md shows.

ADMIN=$(cat /proc/sys/kernel/random/uuid) # the first administrator's, for this check alone

school() { kubectl --namespace school "$@"; }

step() { printf '\n%4d s  == %s\n' "$SECONDS" "$*"; }

# check [FILE] runs everything and ends the cluster, whatever happens; FILE gets the record of a run that passed.
check() {
	local record=${1:-} log commit
	log=$(mktemp)
	commit=$(git -C "$CHECKOUT" describe --always --dirty --abbrev=12)
	(set -e; whole_check "$log") 2>&1 | tee "$log" # its failure ends this, and the log stays
	[ -z "$record" ] || write_record "$log" "$commit" >"$record"
	rm -f "$log"
}

whole_check() {
	require_down
	install_packages # before it is asked what this machine can do: its programs are among them
	require_possible
	say "$(nproc) processors, $(awk '/MemTotal/ {printf "%.0f", $2 / 1048576}' /proc/meminfo) GB of memory, $(uname -r)"
	machine_says
	build
	traces >"$1.before"
	trap 'ended $?' EXIT
	check_images
	step "bringing the cluster up"
	up
	services_up
	kubectl version | tail -1 | while read -r line; do say "$line"; done
	say "control plane, node, name service, metrics and front door take $(memory) MB"
	check_ground
	check_guide
	check_install
	check_school
	check_rollout
	check_helm_test
	check_routes
	check_conformance
	check_disruption
	check_kill
	check_stores_away
	check_loss
	check_beside
	check_scaling
	check_uninstall
	check_district
	step "bringing the cluster down"
	say "at its peak the cluster took $(cat "$RUN/peak") MB, stores apart"
	machine_down
	trap - EXIT
	traces >"$1.after"
	diff "$1.before" "$1.after" || fail "the cluster left the above behind"
	say "nothing is left: no process, mount, network, control group, packet filter rule, setting or file"
	rm -f "$1.before" "$1.after"
	printf '\n%4d s  PASSED\n' "$SECONDS"
}

# ended STATUS ends the cluster of a check that failed.
ended() {
	trap - ERR
	[ "$1" -eq 0 ] || why
	machine_down
	exit "$1"
}

IMAGES=$CHECKOUT/.local/$NAME-images
BEFORE=${CLUSTER_BEFORE:-$(sed -n 's/.* at commit \([0-9a-f]*\),.*/\1/p' "$CHECKOUT/docs/kubernetes-check.md")}

# check_images: the release before is the commit with which this check passed last, with its chart, or where that is not
# here, or has its images elsewhere, the one of test/faults.
check_images() {
	local before=$CHECKOUT/.local/$NAME-before
	rm -rf "$before" "$IMAGES"
	git clone --quiet --shared --no-checkout "$CHECKOUT" "$before"
	for BEFORE in "$BEFORE" "$(<"$CHECKOUT/test/faults/previous.txt")" HEAD; do
		! git -C "$before" cat-file -e "$BEFORE:deploy/images/main.go" 2>/dev/null || break
	done
	step "building the images of this commit, and of the release before, $BEFORE"
	git -C "$before" checkout --quiet "$BEFORE"
	images "$before" before
	images "$CHECKOUT" now
}

# images CHECKOUT TAG
images() {
	(cd "$1" && go run ./deploy/images -registry belfry.test -version "$2" \
		-platforms "linux/$(go env GOARCH)" -out "$IMAGES/$2") |
		while read -r line; do say "$line"; done
}

check_ground() {
	step "stores, images and belfryctl, as a reader of docs/operate.md has them"
	stores_up
	load "$IMAGES"/{before,now}/*.tar
	CGO_ENABLED=0 go build -C "$CHECKOUT" -o "$RUN/" ./cmd/belfryctl ./test/cluster/patient
	CGO_ENABLED=0 go test -C "$CHECKOUT" -c -o "$RUN/conformance" ./test/conformance
	push_chart
}

REGISTRY_PORT=5000
PUSHED=oci://localhost:$REGISTRY_PORT/charts
CHART=("$PUSHED/belfry" --plain-http) # of this commit

# push_chart packages the chart of this commit and pushes it to a registry, from which `release now` and the district's
# example take it. The registry is a program of the module with which the images are made.
push_chart() {
	CGO_ENABLED=0 go build -C "$CHECKOUT/deploy" -o "$RUN/" github.com/google/go-containerregistry/cmd/registry
	keep registry "$RUN/registry" -port "$REGISTRY_PORT"
	helm package "$CHECKOUT/charts/belfry" --destination "$RUN/chart" >/dev/null
	need 30 registry inside curl -sS --fail "http://localhost:$REGISTRY_PORT/v2/"
	helm push "$RUN"/chart/belfry-*.tgz "$PUSHED" --plain-http >"$RUN/log/push.log" 2>&1 ||
		fail "the chart's package: $(cat "$RUN/log/push.log")"
	say "the chart's package is in a registry: $(sed -n 's/^Pushed: //p' "$RUN/log/push.log")"
}

check_install() {
	step "helm install of the release before, in a namespace that enforces the restricted pod security standard"
	found_school
	local began=$SECONDS
	release before >/dev/null
	say "installed and ready in $((SECONDS - began)) s"
	memory_peak
}

# found_school makes the namespace and what an operator brings: a certificate and the secrets.
found_school() {
	kubectl create namespace school >/dev/null
	kubectl label namespace school pod-security.kubernetes.io/enforce=restricted >/dev/null
	school create secret tls belfry-tls --cert="$PKI/ingress.crt" --key="$PKI/ingress.key" >/dev/null
	school create secret generic belfry \
		--from-literal=mongodb-uri="mongodb://mongodb.stores:27017/" \
		--from-literal=redis-url="redis://valkey.stores:6379/0" \
		--from-literal=internal-token="$(openssl rand -hex 32)" --from-literal=admin-uuid="$ADMIN" >/dev/null
}

# release TAG [ARGUMENTS...] installs the release or upgrades it, to the chart and images of the tag.
release() {
	local tag=$1 chart=("${CHART[@]}")
	shift
	[ "$tag" != before ] || chart=("$CHECKOUT/.local/$NAME-before/charts/belfry")
	helm upgrade --install belfry "${chart[@]}" --namespace school --values "$HERE/values.yaml" \
		--set image.tag="$tag" --wait --timeout "$(patient 300)" "$@"
}

# pods_spread: every service has pods in both zones, on different nodes.
pods_spread() {
	local service zones
	for service in "${SERVICES[@]}"; do
		zones=$(school get pods --selector app.kubernetes.io/component="$service" \
			-o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' |
			while read -r node; do echo "${ZONES[$node]}"; done | sort -u | wc -l)
		[ "$zones" -eq 2 ] || fail "$service is in one zone: $(school get pods -o wide)"
	done
	say "every service is in both zones; pods and nodes:"
	school get pods --no-headers -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName |
		while read -r line; do say "  $line"; done
}

check_helm_test() {
	step "helm test: login, create, read, delete"
	helm test belfry --namespace school --timeout "$(patient 120)" >"$RUN/log/helm-test.log" 2>&1 ||
		fail "helm test: $(cat "$RUN/log/helm-test.log"; school logs belfry-test)"
	grep '^ok' "$RUN/log/helm-test.log" | while read -r line; do say "$line"; done
}

check_school() {
	step "the main job: a school loaded by belfryctl through the Ingress"
	"$RUN/belfryctl" demo --pupils 120 --years 1 --out "$RUN/demo" >/dev/null
	operate import "$RUN/demo" >"$RUN/imported" 2>"$RUN/log/import.log" ||
		fail "import: $(tail -5 "$RUN/log/import.log")"
	tail -3 "$RUN/imported" | while read -r line; do say "$line"; done
	login
	local category staff body event
	category=$(ask /api/eventcategories | jq -er '.eventcategories[0].id')
	staff=$(operate elements list --type Staff -o json | jq -er '.elements[0].id')
	body=$(jq -n --arg category "$category" --arg staff "$staff" \
		'{event: {body: "Read under load", eventcategory_id: $category, starts_at_text: "2027-05-03 09:30",
			ends_at_text: "2027-05-03 10:30"}, elements: [$staff]}')
	event=$(ask /api/events -H 'Content-Type: application/json' -d "$body" | jq -er .event.id)
	targets "$event" "$category" "$staff" >"$RUN/targets"
}

# check_routes: prefixes end at a segment. Identity refuses the paths below /api of no service, the console all others.
check_routes() {
	step "paths, through Ingress (port $WEB) and HTTPRoute (port $GATEWAY)"
	local port path owner routes=$CHECKOUT/charts/belfry/files/routes.yaml
	for port in $WEB $GATEWAY; do
		while read -r path owner; do
			echo "$path $port $owner $(request_id "$path" "$port")"
		done < <(
			sed -n 's/^  - {prefix: \([^,]*\), service: \([a-z]*\)}.*/\1 \2/p' "$routes"
			printf '%s identity\n' /api/eventsx /api/notesy
			printf '%s console\n' /notesx /internal/sessions /metrics /readyz
		)
	done >"$RUN/asked"
	sleep 2 # a log is read a moment after it is written
	answered >"$RUN/answered"
	awk '
		NR == FNR {by[$1] = $2; next}
		by[$4] != $3 {print $1 " at port " $2 " was answered by " by[$4] ", not by " $3}
	' "$RUN/answered" "$RUN/asked" >"$RUN/astray"
	[ ! -s "$RUN/astray" ] || fail "$(cat "$RUN/astray")"
	say "$(wc -l <"$RUN/asked") paths reach the service that owns them;" \
		"neighbours in name, internal paths, metrics and probes do not get past"
}

# check_conformance goes one way after the other: the last test fails logins on purpose, and a run beside it
# would have to wait.
check_conformance() {
	local way
	for way in "Ingress:$WEB" "HTTPRoute:$GATEWAY"; do
		step "the contract's conformance tests through the ${way%:*}"
		inside env SSL_CERT_FILE="$PKI/ca.crt" BELFRY_UUID="$ADMIN" "$RUN/conformance" \
			-url "https://$HOST:${way#*:}" >"$RUN/log/conformance.log" ||
			fail "the tests: $(cat "$RUN/log/conformance.log")"
		say "$(tail -1 "$RUN/log/conformance.log")"
	done
	memory_peak
}

# check_rollout: the load's writers are served by pods of both releases, there and back.
check_rollout() {
	step "from the release before to this commit under load, and back; then there again"
	under_load "upgrade to this commit" release now
	runs now
	under_load "rollback to the release before" helm rollback belfry 1 --namespace school --wait --timeout 5m
	runs before
	release now >/dev/null
	runs now
	pods_spread
}

# runs TAG waits until every pod runs images of the tag and no other pod is left.
runs() {
	wait_for 60 only "$1" || fail "not all pods run $1: $(images_running)"
	say "all pods run $1"
}

images_running() {
	school get pods --field-selector status.phase=Running \
		-o jsonpath='{range .items[*]}{.spec.containers[0].image}{"\n"}{end}'
}

# only TAG succeeds when each service runs two pods or more, all of the tag.
only() {
	local running
	running=$(images_running)
	[ "$(grep -c ":$1\$" <<<"$running")" -ge $((2 * ${#SERVICES[@]})) ] && ! grep -qv ":$1\$" <<<"$running"
}

check_disruption() {
	step "pods deleted and a zone's node drained under load; the disruption budget"
	local pods first second
	pods=$(school get pods --selector app.kubernetes.io/component=notes -o jsonpath='{.items[*].metadata.name}')
	first=${pods%% *} second=${pods##* }
	evict "$first" >/dev/null || fail "the first pod of notes could not be evicted"
	! evict "$second" 2>"$RUN/evict.log" || fail "the second pod of notes was evicted while the first was away"
	grep -q 'disruption budget' "$RUN/evict.log" ||
		fail "a second eviction failed for another reason: $(cat "$RUN/evict.log")"
	say "a second eviction is refused: $(tail -1 "$RUN/evict.log")"
	runs now
	under_load "each service's oldest pod deleted, then node3 drained" delete_and_drain
	runs now
	kubectl uncordon node3 >/dev/null
}

evict() {
	printf '{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s", "namespace": "school"}}' "$1" |
		kubectl create --raw "/api/v1/namespaces/school/pods/$1/eviction" -f -
}

delete_and_drain() {
	local service oldest
	for service in "${SERVICES[@]}"; do
		oldest=$(school get pods --selector app.kubernetes.io/component="$service" \
			--sort-by .metadata.creationTimestamp -o jsonpath='{.items[0].metadata.name}')
		school delete pod --wait=false "$oldest" >/dev/null
	done
	school wait --for=condition=Available deployment --all --timeout=90s >/dev/null
	wait_for 60 only now || return 1
	kubectl drain node3 --ignore-daemonsets --delete-emptydir-data --timeout=120s
}

check_kill() {
	step "a service's processes killed, without warning"
	local began service found
	for service in "${SERVICES[@]}"; do
		found=$(school get pods --selector app.kubernetes.io/component="$service" \
			-o jsonpath='{.items[0].spec.nodeName} {.items[0].status.containerStatuses[0].containerID}')
		ctr "${found%% *}" task kill --signal SIGKILL "${found##*/}"
	done
	began=$SECONDS
	wait_for 60 restarted "${#SERVICES[@]}" || fail "the killed containers are not back: $(school get pods)"
	say "all are back and ready after $((SECONDS - began)) s"
	operate check >/dev/null
	say "belfryctl check passes"
}

# restarted COUNT succeeds when so many containers were restarted and all are ready. The pod of helm test stays when it
# is done, and counts nowhere.
restarted() {
	local pods
	pods=$(school get pods --field-selector status.phase=Running -o json)
	[ "$(jq '[.items[].status.containerStatuses[0].restartCount] | add' <<<"$pods")" -ge "$1" ] &&
		[ "$(jq '[.items[].status.containerStatuses[0].ready] | all' <<<"$pods")" = true ]
}

# check_beside: a cluster of another name comes up, runs a pod and is removed, while this one serves. Then this one has
# what it had: pods that start again need the folders that both share. The lock keeps a second command off this one.
check_beside() {
	step "a cluster of another name beside this one, under load here; a second command for this one"
	local command=$CHECKOUT/test/cluster/cluster
	under_load "a second cluster brought up and removed" beside "$command"
	tail -2 "$RUN/log/beside.log" | while read -r line; do say "there: ${line#* s  }"; done
	operate check >/dev/null
	school rollout restart deployment belfry-notes >/dev/null # new pods are mounted as the first ones were
	school rollout status deployment belfry-notes --timeout 120s >/dev/null
	say "here, belfryctl check passes and new pods start"
	! "$command" down >"$RUN/log/locked.log" 2>&1 || fail "a second command was let in"
	say "a second command for this one: $(sed 's/^ *[0-9]* s  //' "$RUN/log/locked.log" | head -1)"
}

beside() {
	env -u CLUSTER_DIR CLUSTER_NAME="$NAME-beside" "$1" quick 8>&- >"$RUN/log/beside.log" 2>&1
	! grep -q skipped "$RUN/log/beside.log"
}

check_scaling() {
	step "autoscaling of elements by its use of the processor"
	wait_for 120 kubectl top pods --namespace school ||
		fail "there are no metrics: $(kubectl get apiservice v1beta1.metrics.k8s.io)"
	release now --set services.elements.autoscaling.enabled=true \
		--set services.elements.autoscaling.maxReplicas=4 \
		--set services.elements.autoscaling.cpuUtilization=25 >/dev/null
	grep -A1 /api/elements "$RUN/targets" | grep -v -- -- >"$RUN/targets-elements"
	inside "$BIN/vegeta-v$VEGETA_VERSION/vegeta" attack -targets="$RUN/targets-elements" \
		-rate=200 -duration=240s -timeout=15s -root-certs="$PKI/ca.crt" \
		-header "Cookie: $(session)" -output=/dev/null &
	local generator=$! began=$SECONDS
	wait_for 200 scaled || fail "elements was not scaled: $(school describe horizontalpodautoscaler)"
	say "from 2 to $(school get deployment belfry-elements -o jsonpath='{.spec.replicas}') pods" \
		"after $((SECONDS - began)) s: $(school get horizontalpodautoscaler --no-headers)"
	memory_peak
	inside pkill vegeta
	wait "$generator" || true # it was killed
}

scaled() { [ "$(school get deployment belfry-elements -o jsonpath='{.status.readyReplicas}')" -gt 2 ]; }

check_uninstall() {
	step "helm uninstall"
	helm uninstall belfry --namespace school --wait >/dev/null
	school delete job,pod,networkpolicy --selector app.kubernetes.io/instance=belfry >/dev/null 2>&1 # as the guide does
	wait_for 60 no_pods || fail "pods are left: $(school get pods)"
	local left
	left=$(kubectl api-resources --namespaced --verbs=list -o name |
		grep -vE 'events|endpoints|endpointslices|pods.metrics|leases' |
		while read -r kind; do school get "$kind" -o name 2>/dev/null; done |
		grep -vE 'serviceaccount/default|configmap/kube-root-ca.crt|secret/belfry|secret/belfry-tls' || true)
	[ -z "$left" ] || fail "uninstalling left $left"
	say "nothing of the release is left in the namespace but the Secrets that it was given"
}

no_pods() { [ -z "$(school get pods -o name)" ]; }

# why prints what may explain a failure.
why() {
	[ -n "${MACHINE:-}" ] && machine_pid >/dev/null || return 0
	school get pods,jobs 2>&1 || true
	school get events --sort-by .lastTimestamp 2>&1 | tail -15 || true
	kubectl get nodes,pods --all-namespaces --output wide 2>&1 | grep -v ' school ' || true
	tail -n 3 "$RUN"/log/*.log || true
}

# write_record LOG COMMIT prints the page docs/kubernetes-check.md.
write_record() {
	cat <<-END
		# The chart on a real Kubernetes

		What \`make cluster-test\` printed on $(date -u +%F) at commit $2, as it came.
		[test/cluster](../test/cluster/README.md) says how the cluster is made, and what it cannot
		show. The number at the beginning of a line is the seconds since the start.

		\`\`\`
	END
	cat "$1"
	echo '```'
}

# quick is the part for .ci/run: control plane, node, a pod, and the chart's objects accepted by the apiserver. It never
# builds the cluster's programs, and where it does nothing it says why.
quick() {
	local why
	NODES=(node1) # enough for this
	why=$(obstacle)
	[ -n "$why" ] || built || why="its programs are not built; $0 build builds them"
	[ -n "$why" ] || command -v containerd iptables >/dev/null || why="containerd or iptables is not installed"
	[ -n "$why" ] || ! machine_pid >/dev/null || why="a cluster is up already"
	if [ -n "$why" ]; then
		say "skipped: $why"
		return
	fi
	trap 'machine_down' EXIT
	up
	kubectl apply --server-side \
		-f "$(fetched "sigs.k8s.io/gateway-api@v$GATEWAY_API_VERSION")/config/crd/standard" >/dev/null
	kubectl run pause --image="$PAUSE_IMAGE" --restart=Never >/dev/null
	kubectl wait --for=condition=Ready pod/pause --timeout=60s >/dev/null
	helm template belfry "$CHECKOUT/charts/belfry" --values "$HERE/values.yaml" \
		--kube-version "$KUBERNETES_VERSION" >"$RUN/chart.yaml"
	kubectl apply --server-side --dry-run=server -f "$RUN/chart.yaml" >"$RUN/accepted"
	say "a pod runs, and the apiserver accepts the chart's $(wc -l <"$RUN/accepted") objects"
	second_day
}
