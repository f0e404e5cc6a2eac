# Sourced. The nodes: Debian's containerd, runc and CNI plugins, the kubelet, kube-proxy, and what enforces network
# policies. Each node has network and mounts of its own, held by one process, and an address on the machine's bridge.
# There is no overlay: the machine has a route to each node's pods.

PAUSE_IMAGE=cluster.belfry.test/pause:1
NODES=(node1 node2 node3)
declare -A ZONES=([node1]=west [node2]=west [node3]=east)

node_address() { echo "10.99.0.1${1#node}"; }

node_pods() { echo "${PODS%.0.0/*}.${1#node}.0/24"; }

# on NODE COMMAND... runs a command in the network and with the mounts of a node.
on() {
	local node=$1
	shift
	nsenter --target "$(cat "$RUN/$node/pid")" --net --mount --pid --wdns="$PWD" -- "$@" 8>&-
}

# keep_on NODE NAME COMMAND... is keep, on a node; the output is in log/NODE-NAME.log.
keep_on() {
	local node=$1 name=$2
	shift 2
	keep_by "on $node" "$node-$name" "$@"
}

# nodes_up brings all nodes up at once.
nodes_up() {
	local node started=()
	groups_up
	echo "nameserver $NAME_SERVER" >"$RUN/resolv.conf"
	program_image "$RUN/images/pause.tar" "$PAUSE_IMAGE" "$RUN/pause" 65535
	for node in "${NODES[@]}"; do
		node_machine "$node"
	done
	for node in "${NODES[@]}"; do
		node_up "$node" &
		started+=($!)
	done
	for node in "${started[@]}"; do
		wait "$node" || fail "a node did not come up"
	done
}

# node_machine makes a node's mounts and network. Its default route is the machine, which forwards.
node_machine() {
	local node=$1 folder=$RUN/$1 address fixed outer
	address=$(node_address "$node")
	mkdir -p "$folder"/{run,log,cni,kubelet,containerd}
	for fixed in "${FIXED[@]}"; do mkdir -p "$folder/fixed$fixed"; done
	nsenter --target "$MACHINE" --net --mount --pid -- unshare --net --mount --propagation private sh -c '
		mount --make-rshared /
		mount --bind "$1/run" /run
		mount --bind "$1/log" /var/log
		folder=$1 pause=$2
		shift 2
		for fixed; do mount --bind "$folder/fixed$fixed" "$fixed"; done
		exec "$pause"' sh "$folder" "$RUN/pause" "${FIXED[@]}" >"$RUN/log/$node.log" 2>&1 </dev/null 8>&- &
	outer=$!
	disown # its end is no news
	wait_for 10 held "$outer" "$folder" || fail "$node did not start: $(cat "$RUN/log/$node.log")"
	inside ip link add "$node" type veth peer name eth0 netns "$(node_process "$node")"
	inside ip link set "$node" up master nodes
	on "$node" ip link set lo up
	on "$node" ip addr add "$address/24" dev eth0
	on "$node" ip link set eth0 up
	on "$node" ip route add default via "$PLANE"
	on "$node" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1 "$FILTERED=1"
	inside ip route add "$(node_pods "$node")" via "$address"
	certificate ca "kubelet-$node" "system:node:$node" system:nodes "DNS:$node,IP:$address,IP:127.0.0.1"
	kubeconfig "kubelet-$node" >"$RUN/kubelet-$node.kubeconfig"
}

# node_process prints the number that a node's first process has in the machine.
node_process() { awk '/^NSpid:/ {print $NF}' "/proc/$(cat "$RUN/$1/pid")/status"; }

node_up() {
	local node=$1 folder=$RUN/$1 address
	address=$(node_address "$node")
	containerd_settings "$folder" >"$folder/containerd.toml"
	network_settings "$node" >"$folder/cni/10-bridge.conflist"
	keep_on "$node" containerd containerd --config "$folder/containerd.toml"
	need 60 "$node-containerd" ctr "$node" version
	load_on "$node" "$RUN/images/pause.tar"
	kubelet_settings "$node" >"$folder/kubelet.yaml"
	keep_on "$node" kubelet "$KUBERNETES/kubelet" --config="$folder/kubelet.yaml" \
		--kubeconfig="$RUN/kubelet-$node.kubeconfig" --root-dir="$folder/kubelet" --hostname-override="$node" \
		--node-ip="$address" --node-labels="topology.kubernetes.io/zone=${ZONES[$node]}"
	proxy_settings "$node" >"$folder/proxy.yaml"
	keep_on "$node" kube-proxy "$KUBERNETES/kube-proxy" --config="$folder/proxy.yaml"
	need 90 "$node-kubelet" kubectl wait --for=condition=Ready "node/$node" --timeout="$(patient 1)"
	# It looks up its node when it starts.
	keep_on "$node" policies env KUBECONFIG="$RUN/admin.kubeconfig" "$POLICIES" "$SERVICE_NETWORK" "$node"
}

# ctr NODE ARGUMENTS... speaks to a node's containerd.
ctr() {
	local node=$1
	shift
	on "$node" ctr --address "$RUN/$node/containerd.sock" --namespace k8s.io "$@"
}

# load brings image archives to all nodes.
load() {
	local node loading=()
	for node in "${NODES[@]}"; do
		[ ! -d "$RUN/$node" ] || { load_on "$node" "$@" & loading+=($!); }
	done
	for node in "${loading[@]}"; do wait "$node" || fail "images could not be loaded"; done
}

load_on() {
	local node=$1 archive
	shift
	for archive in "$@"; do
		ctr "$node" images import --snapshotter overlayfs "$archive" >/dev/null || fail "$archive could not be loaded"
	done
}

# containerd_settings: restrict_oom_score_adj, because the machine's processes may be forbidden to lower their score.
# Network namespaces are below the state folder, so that none is left in /run/netns.
containerd_settings() {
	cat <<-END
		version = 2
		root = "$1/containerd/root"
		state = "$1/containerd/state"
		[grpc]
		  address = "$1/containerd.sock"
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "$PAUSE_IMAGE"
		  disable_apparmor = true
		  restrict_oom_score_adj = true
		  netns_mounts_under_state_dir = true
		[plugins."io.containerd.grpc.v1.cri".containerd]
		  snapshotter = "overlayfs"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
		  runtime_type = "io.containerd.runc.v2"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
		  SystemdCgroup = false
		[plugins."io.containerd.grpc.v1.cri".cni]
		  bin_dir = "/usr/lib/cni"
		  conf_dir = "$1/cni"
	END
}

# network_settings: no masquerade, or network policies would see the node in place of the pod.
network_settings() {
	cat <<-END
		{"cniVersion": "0.4.0", "name": "pods", "plugins": [
		  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
		   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$(node_pods "$1")"}]],
		            "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "$RUN/$1/cni-addresses"}},
		  {"type": "portmap", "capabilities": {"portMappings": true}}]}
	END
}

# kubelet_settings: failCgroupV1, because otherwise the kubelet refuses kernels that start with control groups of
# version 1. It has its own root among the control groups, so that what is left there can be distinguished from others'.
kubelet_settings() {
	cat <<-END
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		failCgroupV1: false
		failSwapOn: false
		nodeLeaseDurationSeconds: $((16 * PATIENCE)) # told every 4 seconds, see controlplane.sh
		cgroupDriver: cgroupfs
		cgroupRoot: /$NAME/$1
		containerRuntimeEndpoint: unix://$RUN/$1/containerd.sock
		authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $PKI/ca.crt}}
		authorization: {mode: Webhook}
		tlsCertFile: $PKI/kubelet-$1.crt
		tlsPrivateKeyFile: $PKI/kubelet-$1.key
		clusterDNS: [$NAME_SERVER]
		clusterDomain: cluster.local
		resolvConf: $RUN/resolv.conf
		imageGCHighThresholdPercent: 100
		evictionHard: {memory.available: 50Mi, nodefs.available: 1Gi, imagefs.available: 1Gi}
	END
}

proxy_settings() {
	cat <<-END
		apiVersion: kubeproxy.config.k8s.io/v1alpha1
		kind: KubeProxyConfiguration
		clientConnection: {kubeconfig: $RUN/proxy.kubeconfig}
		mode: iptables
		clusterCIDR: $PODS
		hostnameOverride: $1
		conntrack: {maxPerCore: 0, min: 0}
	END
}

# program_image ARCHIVE NAME PROGRAM USER writes the image of one static program, in the format of docker save.
program_image() {
	local dir config program
	program=$(basename "$3")
	dir=$(mktemp -d)
	tar -C "$(dirname "$3")" --owner=0 --group=0 -cf "$dir/layer.tar" "$program"
	printf '{"os":"linux","architecture":"%s","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
		"$(go env GOARCH)" "{\"Entrypoint\":[\"/$program\"],\"User\":\"$4:$4\"}" \
		"$(sha256sum "$dir/layer.tar" | cut -d' ' -f1)" >"$dir/config.json"
	config=$(sha256sum "$dir/config.json" | cut -d' ' -f1).json
	mv "$dir/config.json" "$dir/$config"
	printf '[{"Config":"%s","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$config" "$2" >"$dir/manifest.json"
	tar -C "$dir" -cf "$1" .
	rm -rf "$dir"
}
