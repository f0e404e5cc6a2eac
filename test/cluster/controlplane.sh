# Sourced. etcd, apiserver, controller manager and scheduler, as processes of the machine. No Service's address works
# where they are, so the apiserver asks for metrics at the address behind it (enable-aggregator-routing). A node that
# says nothing for 16 seconds is lost; usually that takes 50.

controlplane_up() {
	local etcd=http://127.0.0.1:2379
	# Without fsync: the data ends with the cluster.
	keep etcd "$BIN/etcd-v$ETCD_VERSION/etcd" --data-dir "$RUN/etcd" --listen-client-urls $etcd \
		--advertise-client-urls $etcd --unsafe-no-fsync
	need 60 etcd inside curl -sf $etcd/health
	keep apiserver "$KUBERNETES/kube-apiserver" --etcd-servers=$etcd \
		--bind-address=0.0.0.0 --advertise-address="$PLANE" --service-cluster-ip-range="$SERVICE_NETWORK" \
		--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
		--enable-aggregator-routing \
		--client-ca-file="$PKI/ca.crt" \
		--tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
		--kubelet-client-certificate="$PKI/apiserver-kubelet.crt" \
		--kubelet-client-key="$PKI/apiserver-kubelet.key" \
		--kubelet-certificate-authority="$PKI/ca.crt" --kubelet-preferred-address-types=InternalIP \
		--requestheader-client-ca-file="$PKI/front-ca.crt" \
		--requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
		--requestheader-extra-headers-prefix=X-Remote-Extra- \
		--proxy-client-cert-file="$PKI/front.crt" --proxy-client-key-file="$PKI/front.key" \
		--service-account-issuer=https://kubernetes.default.svc.cluster.local \
		--service-account-signing-key-file="$PKI/accounts.key" --service-account-key-file="$PKI/accounts.pub"
	need 90 apiserver kubectl get --raw /readyz
	local kubeconfig=$RUN/controller-manager.kubeconfig
	keep controller-manager "$KUBERNETES/kube-controller-manager" --bind-address=127.0.0.1 --leader-elect=false \
		--kubeconfig="$kubeconfig" --authentication-kubeconfig="$kubeconfig" --authorization-kubeconfig="$kubeconfig" \
		--use-service-account-credentials=true --service-account-private-key-file="$PKI/accounts.key" \
		--root-ca-file="$PKI/ca.crt" \
		--cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key" \
		--service-cluster-ip-range="$SERVICE_NETWORK" \
		--node-monitor-grace-period="$(patient 16)" --node-monitor-period=2s
	kubeconfig=$RUN/scheduler.kubeconfig
	keep scheduler "$KUBERNETES/kube-scheduler" --bind-address=127.0.0.1 --leader-elect=false \
		--kubeconfig="$kubeconfig" --authentication-kubeconfig="$kubeconfig" --authorization-kubeconfig="$kubeconfig"
	need 90 controller-manager kubectl get serviceaccount default
}

kubectl() { inside "$KUBERNETES/kubectl" --kubeconfig "$RUN/admin.kubeconfig" "$@"; }

helm() { KUBECONFIG=$RUN/admin.kubeconfig inside "$BIN/helm-v$HELM_VERSION/helm" "$@"; }
