# Sourced. Output, failure and waiting, for all other scripts.

# say prints a line with the time since the command began.
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# fail ends the command with the reason.
fail() {
	printf 'cluster: %s\n' "$*" >&2
	exit 1
}

# need_space GIGABYTES FOLDER fails when the folder's file system has less free space.
need_space() {
	local free
	free=$(df --output=avail -BG "$2" | tail -1 | tr -dc 0-9)
	[ "$free" -ge "$1" ] || fail "$2 has $free GB of free space, and $1 GB are needed"
}

PATIENCE=${CLUSTER_PATIENCE:-1} # how many times longer all waits are, for a machine that is emulated

# patient SECONDS prints so long a time with this machine's patience, as kubectl and Helm read it.
patient() { echo "$(($1 * PATIENCE))s"; }

# wait_for SECONDS COMMAND... tries the command until it succeeds, with this machine's patience.
wait_for() {
	local deadline=$((SECONDS + $1 * PATIENCE))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.2
	done
}
