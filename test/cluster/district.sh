# Sourced. charts/belfry/examples/district.yaml as it is, with what it takes for granted: stores that have the names and
# labels of those of deploy/examples, a Gateway, a collector, definitions of monitoring. Then who reaches whom.

DISTRICT=belfry.district.example

# A line for each who, a column for each address that is tried from its network: + is let through, . is refused. The
# stranger is a pod of another namespace. It reaches what no policy of the release protects; so something is there.
TARGETS="elements:8080 console:8080 elements:8081 identity:8081 events:8081 notes:8081 events:9090"
TARGETS+=" mongodb valkey names collector apiserver kubelet"
REACH='
stranger   . . . . . . . + + + + + +
frontdoor  + + . . . . . + + + + + +
collector  . . . . . . + + + + + + +
console    + . . . . . . . . + + . .
'

# reach_wanted prints REACH and a line for each service with data, which reaches its neighbours.
reach_wanted() {
	local who neighbours row service
	grep . <<<"$REACH" | tr -s ' '
	while read -r who neighbours; do
		row="$who . ."
		for service in elements identity events notes; do
			if [[ " $neighbours " == *" $service "* ]]; then row+=" +"; else row+=" ."; fi
		done
		echo "$row . + + + + . ."
	done < <(grep -v '^#\|^console' "$CHECKOUT/charts/belfry/files/neighbours.yaml" | tr -d ':[],')
}

check_district() {
	step "the example for a district as it is, with policies that name every peer"
	local began=$SECONDS
	district_ground
	helm upgrade --install belfry "$PUSHED/belfry" --plain-http --namespace belfry \
		--values "$CHECKOUT/charts/belfry/examples/district.yaml" --set mongodb.database=district \
		--wait --timeout 10m >/dev/null # the guide's database is on the same server
	kubectl --namespace belfry wait --for=jsonpath='{.status.readyReplicas}'=3 deployment --all \
		--timeout=120s >/dev/null
	say "installed in $((SECONDS - began)) s, and with as many pods as the autoscaler wants; of events:"
	kubectl --namespace belfry get pods --selector app.kubernetes.io/component=events --no-headers \
		-o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName |
		while read -r pod node; do say "  $pod  $node  ${ZONES[$node]}"; done
	helm test belfry --namespace belfry --timeout 2m >"$RUN/log/district.log" 2>&1 ||
		fail "helm test: $(cat "$RUN/log/district.log"; kubectl --namespace belfry logs belfry-test)"
	inside env SSL_CERT_FILE="$PKI/ca.crt" BELFRY_URL="https://$DISTRICT:$GATEWAY" BELFRY_UUID="$ADMIN" \
		"$RUN/belfryctl" check >/dev/null || fail "belfryctl check through the district's Gateway"
	say "helm test passes within, $(grep -c '^ok' "$RUN/log/district.log") steps," \
		"and belfryctl check through the Gateway"
	memory_peak
	reach
}

district_ground() {
	local definitions
	definitions=$(fetched "github.com/prometheus-operator/prometheus-operator@v$PROMETHEUS_OPERATOR_VERSION")
	kubectl apply --server-side >/dev/null \
		-f "$definitions/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" \
		-f "$definitions/example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"
	kubectl create priorityclass district-services --value=1000 >/dev/null
	kubectl create namespace belfry >/dev/null
	kubectl create namespace observability >/dev/null
	store belfry belfry-mongodb-svc 27017 "$(address MONGODB_URI)" "app: belfry-mongodb-svc"
	store belfry belfry-valkey 6379 "$(address REDIS_URL)" "app.kubernetes.io/name: valkey"
	store observability collector 4318 127.0.0.1:9 "app: collector" # it takes connections, and nothing more
	stand_in default stranger node2 "app: stranger"
	kubectl --namespace belfry create secret generic belfry --from-literal=admin-uuid="$ADMIN" \
		--from-literal=internal-token="$(openssl rand -hex 32)" >/dev/null
	kubectl --namespace belfry create secret generic belfry-mongodb-uri \
		--from-literal=connectionString.standard=mongodb://belfry-mongodb-svc:27017/ >/dev/null
	kubectl --namespace belfry create secret generic belfry-valkey \
		--from-literal=url=redis://default:anything@belfry-valkey:6379/1 >/dev/null
	kubectl --namespace belfry create configmap district-ca --from-file=ca.crt="$PKI/ca.crt" >/dev/null
	echo "$FRONT $DISTRICT" >>"$RUN/hosts"
}

# reach tries all that reach_wanted prints. A policy takes a moment to be enforced, so the stranger's first line says
# when it is.
reach() {
	local who expected column sign row
	wait_for 60 refused stranger elements:8080 || fail "the policies are not enforced"
	{
		echo "who $TARGETS"
		while read -r who expected; do
			row=$who
			for column in $TARGETS; do
				sign=${expected%% *} expected=${expected#* }
				if [ "$sign" = + ]; then
					wait_for 20 let_through "$who" "$column" || sign=.
				else
					refused "$who" "$column" || sign=+
				fi
				row+=" $sign"
			done
			echo "$row"
		done < <(reach_wanted)
	} >"$RUN/reach"
	column -t "$RUN/reach" | while IFS= read -r row; do say "$row"; done
	diff <(reach_wanted) <(sed 1d "$RUN/reach") >&2 || fail "who reaches whom is not as it should be"
	say "$(grep -o ' [+.]' "$RUN/reach" | wc -l) ways tried: let through where there is a plus, refused elsewhere"
}

refused() { ! let_through "$@"; }

# let_through WHO COLUMN opens a connection from the network of one pod of WHO.
let_through() {
	local process
	process=$(process_of "$1")
	inside nsenter --target "$process" --net timeout 5 bash -c ": </dev/tcp/$(target_of "$2")" 2>/dev/null
}

# process_of WHO remembers what it found.
process_of() {
	local namespace=belfry selector=app.kubernetes.io/component=$1 file=$RUN/process-$1
	case $1 in
	stranger) namespace=default selector=app=stranger ;;
	collector) namespace=observability selector=app=collector ;;
	frontdoor) namespace=gateway selector=app=traefik ;;
	esac
	[ -s "$file" ] || pod_process "$namespace" "$(kubectl --namespace "$namespace" get pods \
		--selector "$selector" -o jsonpath='{.items[0].metadata.name}')" >"$file"
	cat "$file"
}

# target_of COLUMN prints HOST/PORT.
target_of() {
	local file=$RUN/target-$1
	[ -s "$file" ] || case $1 in
	mongodb) pod_address belfry app=belfry-mongodb-svc 27017 ;;
	valkey) pod_address belfry app.kubernetes.io/name=valkey 6379 ;;
	names) pod_address kube-system k8s-app=kube-dns 53 ;;
	collector) pod_address observability app=collector 4318 ;;
	apiserver) echo "$PLANE/6443" ;;
	kubelet) echo "$(node_address node1)/10250" ;;
	*) pod_address belfry "app.kubernetes.io/component=${1%:*}" "${1#*:}" ;;
	esac >"$file"
	cat "$file"
}

pod_address() {
	echo "$(kubectl --namespace "$1" get pods --selector "$2" -o jsonpath='{.items[-1:].status.podIP}')/$3"
}
