# Sourced. Calls to Belfry from inside the cluster's network, as the first administrator.

# ask PATH [ARGUMENTS OF curl...]
ask() {
	local path=$1
	shift
	inside curl -sS --cacert "$PKI/ca.crt" -b "$RUN/cookies" "$@" "https://$HOST$path"
}

# login: the conformance suite fails logins on purpose, after which nobody can log in from the same address for a minute.
login() { wait_for 90 logged_in || fail "logging in through the front door: $(ask "/api/login?uuid=$ADMIN")"; }

logged_in() { [ "$(ask "/api/login?uuid=$ADMIN" -c "$RUN/cookies")" = '{"status":"OK"}' ]; }

# session prints the session's cookie as a header has it.
session() { awk '$6 ~ /scheduling_session$/ {print $6 "=" $7}' "$RUN/cookies"; }

# operate runs belfryctl.
operate() { inside env SSL_CERT_FILE="$PKI/ca.crt" BELFRY_URL="https://$HOST" BELFRY_UUID="$ADMIN" "$RUN/belfryctl" "$@"; }

# request_id PATH PORT asks for a path and prints the id that the answer bears, by which the log of the service that gave it names the request.
request_id() {
	inside curl -sS -o /dev/null -D - --cacert "$PKI/ca.crt" "https://$HOST:$2$1" | tr -d '\r' | sed -n 's/^x-request-id: //Ip'
}

# answered prints, for each request in the services' logs, its id and the service.
answered() {
	local service
	for service in "${SERVICES[@]}"; do
		school logs --selector "app.kubernetes.io/component=$service" --tail=-1 | jq -r 'select(.request) | .request + " " + .service'
	done
}
