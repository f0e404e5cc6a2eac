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
	can_overlay || {
		echo "$RUN is on a file system that cannot lie under overlayfs, or the kernel has none;" \
			"set CLUSTER_DIR to a folder on ext4 or xfs"
		return
	}
	can_limit || {
		echo "control groups for processor, memory and process numbers cannot be made below /sys/fs/cgroup"
		return
	}
	[ "$(awk '/MemAvailable/ {print int($2 / 1024)}' /proc/meminfo)" -ge 3000 ] || {
		echo "3 GB of memory have to be free"
		return
	}
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

can_limit() {
	local hierarchy
	if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
		mkdir "/sys/fs/cgroup/$NAME-probe" 2>/dev/null && rmdir "/sys/fs/cgroup/$NAME-probe"
		return
	fi
	for hierarchy in cpu memory pids cpuset; do
		mkdir "/sys/fs/cgroup/$hierarchy/$NAME-probe" 2>/dev/null &&
			rmdir "/sys/fs/cgroup/$hierarchy/$NAME-probe" || return 1
	done
}
