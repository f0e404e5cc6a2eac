# Sourced. A store away for longer than a probe needs to fail: nothing in front of the pods may answer in their place.

AWAY=15 # seconds

check_stores_away() {
	step "MongoDB away for $AWAY s, then Valkey"
	store_away mongodb 27017 MONGODB_URI
	store_away valkey 6379 REDIS_URL
	operate check >/dev/null
	say "belfryctl check passes"
}

# store_away NAME PORT VARIABLE ends the store's forwarder, asks until the time is over, and brings it back.
store_away() {
	local end=$((SECONDS + AWAY)) answers=$RUN/away-$1 back
	login
	inside pkill -f "$RUN/forward .* 0.0.0.0:$2="
	while [ "$SECONDS" -lt "$end" ]; do
		ask "/api/events?start_date=2027-05-03" -w ' %{http_code}\n' -m 15 || echo "no answer"
		all_ready || fail "a pod is not ready while $1 is away: $(school get pods)"
		sleep 0.5
	done >"$answers" 2>&1
	forward stores "$1" "$2" "$(address "$3")"
	back=$SECONDS
	wait_for 60 logged_in || fail "no user can log in after $1 came back"
	[ "$(grep -c ' 503$' "$answers")" -gt 0 ] || fail "$1 was away, and nothing was answered 503: $(cat "$answers")"
	! grep -vE '^\{"status":.*\} (503|200)$' "$answers" || fail "an answer while $1 is away is not the envelope"
	say "$1: $(grep -c ' 503$' "$answers") of $(wc -l <"$answers") requests answered 503 in the envelope," \
		"all pods ready; a login $((SECONDS - back)) s after it came back"
}

all_ready() {
	school get pods --field-selector status.phase=Running -o json |
		jq -e --argjson pods $((2 * ${#SERVICES[@]})) \
			'[.items[].status.containerStatuses[0].ready] | length >= $pods and all' >/dev/null
}
