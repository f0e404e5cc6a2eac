# Sourced. What all clusters of this machine share, whatever their names: settings of the whole kernel, and folders
# outside. The first cluster saves or makes them, the last one restores or removes them. /run/belfry-clusters has what
# there was, and a file for each cluster with the place of what it wrote.

SHARED=/run/belfry-clusters
SETTINGS=(vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops # the kubelet sets them
	kernel.keys.root_maxkeys kernel.keys.root_maxbytes)

# shared_join comes before anything is shared. Removing a folder would undo what others have mounted on it, so only the
# last one does.
shared_join() {
	local folder
	mkdir -p "$SHARED"
	(
		flock 7
		[ -f "$SHARED/settings" ] || sysctl -e "${SETTINGS[@]}" >"$SHARED/settings"
		for folder in "${FIXED[@]}"; do
			[ -d "$folder" ] || { mkdir "$folder" && echo "$folder" >>"$SHARED/made"; }
		done
		bridges_load
		connections_load
		echo "$RUN" >"$SHARED/of-$NAME"
	) 7>"$SHARED/lock"
}

shared_leave() {
	[ -d "$SHARED" ] || return 0
	(
		flock 7
		rm -f "$SHARED/of-$NAME"
		! shared_by_others || exit 0
		[ ! -f "$SHARED/made" ] || xargs rmdir <"$SHARED/made"
		[ ! -f "$SHARED/settings" ] || sysctl -q -p "$SHARED/settings" >/dev/null
		[ ! -f "$SHARED/bridges" ] || modprobe -r br_netfilter
		rm -rf "$SHARED"
	) 7>"$SHARED/lock"
}

# shared_by_others says whether another cluster is up. One that was killed is not.
shared_by_others() {
	local file run pid
	for file in "$SHARED"/of-*; do
		[ -f "$file" ] || continue
		run=$(cat "$file")
		pid=$(cat "$run/pid" 2>/dev/null) && [ "$(readlink "/proc/$pid/exe")" = "$run/pause" ] && return 0
	done
	return 1
}

FILTERED=net.bridge.bridge-nf-call-iptables # that packets between pods of a node pass the packet filter, too

# bridges_load loads the module that FILTERED needs, where the kernel hasn't it. For this machine's own bridges nothing
# changes: a new network namespace has the setting of its own.
bridges_load() {
	! sysctl -n "$FILTERED" >/dev/null 2>&1 || return 0
	say "loading the kernel module br_netfilter, which this machine's own bridges do not use"
	modprobe br_netfilter
	sysctl -qw "$FILTERED"=0
	touch "$SHARED/bridges"
}

# connections_load loads the module that keeps connections. The first packet filter rule would do so too, and it stays
# as it would then; but kube-proxy sets its times before it makes a rule, and ends where there are none.
connections_load() { [ -e /proc/sys/net/netfilter/nf_conntrack_max ] || modprobe nf_conntrack; }
