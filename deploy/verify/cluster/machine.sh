# Sourced. The machine that the cluster runs on: network, mounts and processes of its own, held by one process. When
# that process ends, the kernel ends all its other processes, undoes its mounts and removes its network. So nothing has
# to be recorded for the clean-up.

NODE=10.99.0.1
SERVICE_NETWORK=10.96.0.0/16
PODS=10.244.0.0/16
FIXED=(/var/lib/cni /var/lib/kubelet) # folders that containerd and the kubelet write to whatever they are told

# machine_pid prints the number of the machine's first process, and fails when there is no machine.
machine_pid() {
	local pid
	pid=$(cat "$RUN/pid" 2>/dev/null) && [ "$(readlink "/proc/$pid/exe")" = "$RUN/pause" ] && echo "$pid"
}

# inside runs a command in the machine. The file system is the same, except /run, /var/log, /etc/hosts and FIXED.
inside() {
	nsenter --target "$MACHINE" --net --mount --pid -- "$@"
}

# keep NAME COMMAND... runs a command in the machine until the machine ends, with its output in log/NAME.log.
keep() {
	local name=$1
	shift
	inside setsid sh -c 'log=$1; shift; exec "$@" >>"$log" 2>&1 </dev/null &' sh "$RUN/log/$name.log" "$@"
}

# need SECONDS NAME COMMAND... waits until the command succeeds, which needs NAME, started by keep.
need() {
	local patience=$1 name=$2
	shift 2
	wait_for "$patience" "$@" || fail "$name did not answer within $patience s; the end of its log:"$'\n'"$(
		tail -5 "$RUN/log/$name.log" 2>/dev/null
	)"
}

machine_up() {
	mkdir -p "$RUN"/{run,log,cni,kubelet,containerd,etcd,images,metrics}
	chmod 700 "$RUN" "$RUN/etcd"
	sysctl -e vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops \
		kernel.keys.root_maxkeys kernel.keys.root_maxbytes >"$RUN/sysctl" # the kubelet sets them
	CGO_ENABLED=0 go build -C "$CHECKOUT" -trimpath -ldflags='-s -w' -o "$RUN/" \
		./deploy/verify/cluster/pause ./deploy/verify/cluster/forward
	local folder
	for folder in "${FIXED[@]}"; do
		mkdir -p "$RUN/fixed$folder"
		[ -d "$folder" ] || { mkdir "$folder" && echo "$folder" >>"$RUN/made"; }
	done
	printf '127.0.0.1 localhost\n%s %s\n' "$NODE" "$HOST" >"$RUN/hosts"
	# shellcheck disable=SC2016 # the inner shell expands them
	setsid unshare --net --mount --pid --fork --mount-proc --propagation private sh -c '
		mount --make-rshared /
		mount --bind "$1/run" /run
		mount --bind "$1/log" /var/log
		mount --bind "$1/hosts" /etc/hosts
		run=$1
		shift
		for folder; do mount --bind "$run/fixed$folder" "$folder"; done
		exec "$run/pause"' sh "$RUN" "${FIXED[@]}" >"$RUN/log/machine.log" 2>&1 </dev/null &
	local outer=$!
	wait_for 10 held_by "$outer" || fail "the machine did not start: $(cat "$RUN/log/machine.log")"
	MACHINE=$(machine_pid)
	inside ip link set lo up
	inside ip link add node0 type bridge # an empty bridge has the node's address: some kernels lack the dummy driver
	inside ip addr add "$NODE/24" dev node0
	inside ip link set node0 up
	# A route to nowhere: some programs look up the source address of the default route.
	inside ip route add default via 10.99.0.254 dev node0
	inside sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1
}

# held_by records the process that unshare made, once it is the machine's first process.
held_by() {
	local pid
	pid=$(pgrep -P "$1") && [ "$(readlink "/proc/$pid/exe")" = "$RUN/pause" ] && echo "$pid" >"$RUN/pid"
}

# machine_down ends the machine and removes all that it leaves on the disk and among the control groups.
machine_down() {
	local pid hierarchy
	stores_down
	if pid=$(machine_pid); then
		kill "$pid"
		wait_for 30 gone "$pid" || fail "the machine's first process, $pid, does not end"
	fi
	for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
		[ ! -d "$hierarchy/$NAME" ] || wait_for 20 remove_groups "$hierarchy/$NAME" ||
			fail "the control groups below $hierarchy/$NAME cannot be removed"
	done
	[ ! -f "$RUN/made" ] || xargs rmdir <"$RUN/made"
	[ ! -f "$RUN/sysctl" ] || sysctl -q -p "$RUN/sysctl" >/dev/null
	rm -rf "$RUN"
}

gone() { [ ! -d "/proc/$1" ]; }

# remove_groups fails while any is busy: a group whose last process has just ended may be busy for a moment.
remove_groups() {
	find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
	[ ! -d "$1" ]
}
