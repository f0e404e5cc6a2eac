# Sourced. Says why a machine cannot run the cluster, before anything is built.

# obstacle prints the first reason, or nothing where there is none. It tries what the cluster needs, and undoes it.
obstacle() {
	local missing
	[ "$(uname -s)" = Linux ] || { echo "the cluster needs Linux"; return; }
	[ "$(id -u)" -eq 0 ] || {
		echo "the cluster needs root: it makes network namespaces, mounts and control groups"
		return
	}
	for missing in unshare nsenter ip mount df awk; do
		command -v "$missing" >/dev/null || {
			echo "the program $missing is missing (Debian: util-linux, iproute2)"
			return
		}
	done
	unshare --net --mount --pid --fork true 2>/dev/null || {
		echo "this machine allows no new network, mount and process namespaces; is this a container without privileges?"
		return
	}
	unshare --net sh -c 'ip link add bridge0 type bridge && ip link add veth0 type veth peer name veth1' \
		2>/dev/null || {
		echo "the kernel has no bridges or veth pairs"
		return
	}
	can_filter || {
		echo "connections between pods of one node do not pass the packet filter, for the kernel module br_netfilter" \
			"is not loaded and cannot be; without it Services and network policies do not work there"
		return
	}
	can_overlay || {
		echo "$RUN is on a file system that cannot lie under overlayfs, or the kernel has none;" \
			"set CLUSTER_DIR to a folder on ext4 or xfs"
		return
	}
	can_limit || {
		echo "control groups for processor, memory and process numbers cannot be made below $GROUPS_ROOT"
		return
	}
	[ "$(awk '/MemAvailable/ {print int($2 / 1024)}' /proc/meminfo)" -ge 4000 ] || {
		echo "4 GB of memory have to be free"
		return
	}
}

# machine_says what differs between machines and has made clusters fail.
machine_says() {
	local groups=1
	! groups_unified || groups=2
	say "control groups of version $groups, $FILTERED=$(sysctl -n "$FILTERED" 2>/dev/null || echo "none, not loaded")"
}

can_overlay() {
	local dir=$RUN.probe
	mkdir -p "$dir"/{lower,upper,work,merged} &&
		unshare --mount mount -t overlay overlay \
			-o "lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work" "$dir/merged" 2>/dev/null
	local result=$?
	rm -rf "$dir"
	return $result
}

# can_filter: see bridges_load.
can_filter() {
	unshare --net sysctl -n "$FILTERED" >/dev/null 2>&1 || modprobe --dry-run --quiet br_netfilter 2>/dev/null
}

can_limit() {
	local hierarchy controllers=(cpu memory pids cpuset)
	if groups_unified; then
		mkdir "$GROUPS_ROOT/$NAME-probe" 2>/dev/null && rmdir "$GROUPS_ROOT/$NAME-probe" || return 1
		for hierarchy in "${controllers[@]}"; do
			grep -qw "$hierarchy" "$GROUPS_ROOT/cgroup.controllers" || return 1
		done
		return
	fi
	for hierarchy in "${controllers[@]}"; do
		mkdir "$GROUPS_ROOT/$hierarchy/$NAME-probe" 2>/dev/null &&
			rmdir "$GROUPS_ROOT/$hierarchy/$NAME-probe" || return 1
	done
}
