# Sourced. What the cluster is made of: Go modules and Debian packages.
KUBERNETES_VERSION=1.36.4
ETCD_VERSION=3.6.7
COREDNS_VERSION=1.15.0
TRAEFIK_VERSION=3.7.10 # 3.7.11 to 3.7.13 require a module that is not published
METRICS_SERVER_VERSION=0.9.0
GATEWAY_API_VERSION=1.6.1
PROMETHEUS_OPERATOR_VERSION=0.85.0
HELM_VERSION=3.22.0
VEGETA_VERSION=12.13.0

CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/belfry
KUBERNETES=$CACHE/kubernetes-$KUBERNETES_VERSION
BIN=$CACHE/bin # NAME-vVERSION/NAME, as .ci/tools keeps them
POLICIES=$BIN/policies-$(cat "$HERE"/policies/{main.go,go.mod,go.sum} | sha256sum | cut -c1-12)/policies
PROGRAMS=(
	"$KUBERNETES"/{kube-apiserver,kube-controller-manager,kube-scheduler,kubelet,kube-proxy,kubectl}
	"$BIN/etcd-v$ETCD_VERSION/etcd" "$BIN/coredns-v$COREDNS_VERSION/coredns" "$BIN/traefik-v$TRAEFIK_VERSION/traefik"
	"$BIN/metrics-server-v$METRICS_SERVER_VERSION/metrics-server" "$BIN/helm-v$HELM_VERSION/helm"
	"$BIN/vegeta-v$VEGETA_VERSION/vegeta" "$POLICIES"
)
PACKAGES=(containerd runc containernetworking-plugins iptables ipset iproute2 util-linux bsdextrautils procps openssl
	curl jq)
