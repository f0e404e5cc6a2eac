# Sourced. Calls to Belfry from inside the cluster's network, as the first administrator.

# ask PATH [ARGUMENTS OF curl...] prints the answer to a request within the session.
ask() {
	local path=$1
	shift
	inside curl -sS --cacert "$PKI/ca.crt" -b "$RUN/cookies" "$@" "https://$HOST$path"
}

# login waits up to 90 s: the conformance tests fail logins on purpose, and after that no user can log in from the same
# address for a minute.
login() { wait_for 90 logged_in || fail "logging in through the front door: $(ask "/api/login?uuid=$ADMIN")"; }

logged_in() { [ "$(ask "/api/login?uuid=$ADMIN" -c "$RUN/cookies")" = '{"status":"OK"}' ]; }

# session prints the session's cookie in the form of a header.
session() { awk '$6 ~ /scheduling_session$/ {print $6 "=" $7}' "$RUN/cookies"; }

# operate runs belfryctl.
operate() {
	inside env SSL_CERT_FILE="$PKI/ca.crt" BELFRY_URL="https://$HOST" BELFRY_UUID="$ADMIN" "$RUN/belfryctl" "$@"
}

# request_id PATH PORT requests a path and prints the request's id from the answer. The same id is in the log of the
# service that answered.
request_id() {
	inside curl -sS -o /dev/null -D - --cacert "$PKI/ca.crt" "https://$HOST:$2$1" |
		tr -d '\r' | sed -n 's/^x-request-id: //Ip'
}

# answered prints, for each request in the services' logs, its id and the service.
answered() {
	local service
	for service in "${SERVICES[@]}"; do
		school logs --selector "app.kubernetes.io/component=$service" --tail=-1 |
			jq -r 'select(.request) | .request + " " + .service'
	done
}
