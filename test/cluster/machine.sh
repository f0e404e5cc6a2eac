# Sourced. The machine that the cluster runs on: network, mounts and processes of its own, held by one process. When
# that process ends, the kernel ends all its other processes, undoes its mounts and removes its network. So nothing has
# to be recorded for the clean-up, but for what shared.sh keeps.
#
# Its network is a bridge. The control plane, and the clients of the check, have the bridge's address; each node has
# network and mounts of its own (node.sh), and a cable to it.

PLANE=10.99.0.1 # of the control plane, the stores' forwarder and the clients
SERVICE_NETWORK=10.96.0.0/16
PODS=10.42.0.0/16                     # node N has 10.42.N.0/24
FIXED=(/var/lib/cni /var/lib/kubelet) # folders that containerd and the kubelet write to whatever they are told

# machine_pid prints the number of the machine's first process, and fails when there is no machine.
machine_pid() {
	local pid
	pid=$(cat "$RUN/pid" 2>/dev/null) && [ "$(readlink "/proc/$pid/exe")" = "$RUN/pause" ] && echo "$pid"
}

# inside runs a command in the machine. The file system is the same, except /run, /var/log, /etc/hosts and FIXED; so is
# the folder. The lock (cluster) stays here: what goes on in the machine must not hold it.
inside() {
	nsenter --target "$MACHINE" --net --mount --pid --wdns="$PWD" -- "$@" 8>&-
}

# keep NAME COMMAND... runs a command in the machine until the machine ends, with its output in log/NAME.log.
keep() { keep_by inside "$@"; }

# keep_by HOW NAME COMMAND... is keep, for another place than the machine's own.
keep_by() {
	local how=$1 name=$2
	shift 2
	# shellcheck disable=SC2086 # how may be several words
	$how setsid sh -c 'log=$1; shift; exec "$@" >>"$log" 2>&1 </dev/null &' sh "$RUN/log/$name.log" "$@"
}

# need SECONDS NAME COMMAND... waits until the command succeeds, which needs NAME, started by keep.
need() {
	local patience=$1 name=$2
	shift 2
	wait_for "$patience" "$@" || fail "$name did not answer within $(patient "$patience"); the end of its log:"$'\n'"$(
		tail -5 "$RUN/log/$name.log" 2>/dev/null
	)"
}

machine_up() {
	mkdir -p "$RUN"/{run,log,etcd,images,metrics}
	chmod 700 "$RUN" "$RUN/etcd"
	shared_join
	CGO_ENABLED=0 go build -C "$CHECKOUT" -trimpath -ldflags='-s -w' -o "$RUN/" \
		./test/cluster/pause ./test/cluster/forward
	printf '127.0.0.1 localhost\n%s %s\n' "$FRONT" "$HOST" >"$RUN/hosts"
	setsid unshare --net --mount --pid --fork --mount-proc --propagation private sh -c '
		mount --make-rshared /
		mount --bind "$1/run" /run
		mount --bind "$1/log" /var/log
		mount --bind "$1/hosts" /etc/hosts
		exec "$1/pause"' sh "$RUN" >"$RUN/log/machine.log" 2>&1 </dev/null 8>&- &
	local outer=$!
	wait_for 10 held "$outer" "$RUN" || fail "the machine did not start: $(cat "$RUN/log/machine.log")"
	MACHINE=$(machine_pid)
	inside ip link set lo up
	inside ip link add nodes type bridge
	inside ip addr add "$PLANE/24" dev nodes
	inside ip link set nodes up
	# A route to nowhere: some programs look up the source address of the default route.
	inside ip route add default via 10.99.0.254 dev nodes
	inside sysctl -qw net.ipv4.ip_forward=1
}

# held OUTER FOLDER records the child of OUTER in FOLDER, once it is the first process of a machine or a node.
held() {
	local pid
	pid=$(pgrep -P "$1") && [ "$(readlink "/proc/$pid/exe")" = "$RUN/pause" ] && echo "$pid" >"$2/pid"
}

# machine_down ends the machine and removes all that it leaves on the disk and among the control groups.
machine_down() {
	local pid
	stores_down
	if pid=$(machine_pid); then
		kill "$pid"
		wait_for 30 gone "$pid" || fail "the machine's first process, $pid, does not end"
	fi
	groups_down
	shared_leave
	rm -rf "$RUN"
}

gone() { [ ! -d "/proc/$1" ]; }
