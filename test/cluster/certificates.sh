# Sourced. Certificate authorities, certificates and the kubeconfigs that name them, for a cluster that lives for an
# hour.

PKI=$RUN/pki

certificates() {
	mkdir -p "$PKI"
	authority ca cluster-ca
	authority front-ca front-proxy-ca # a separate one: its clients may act as anybody
	local names=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
	names+=,DNS:kubernetes.default.svc.cluster.local,IP:127.0.0.1,IP:$PLANE,IP:${SERVICE_NETWORK%.0/*}.1
	certificate ca apiserver kube-apiserver "" "$names"
	certificate ca admin admin system:masters
	certificate ca controller-manager system:kube-controller-manager
	certificate ca scheduler system:kube-scheduler
	certificate ca proxy system:kube-proxy
	certificate ca apiserver-kubelet apiserver-kubelet system:masters
	certificate ca ingress "$HOST" "" "DNS:$HOST,DNS:belfry.district.example"
	certificate front-ca front front-proxy-client
	key accounts
	openssl ec -in "$PKI/accounts.key" -pubout -out "$PKI/accounts.pub" 2>/dev/null
	local who
	for who in admin controller-manager scheduler proxy; do
		kubeconfig "$who" >"$RUN/$who.kubeconfig"
	done
}

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/$1.key"; }

# authority FILE NAME
authority() {
	key "$1"
	openssl req -x509 -new -key "$PKI/$1.key" -days 30 -subj "/CN=$2" -out "$PKI/$1.crt"
}

# certificate AUTHORITY FILE NAME [ORGANIZATION] [OTHER-NAMES]
certificate() {
	key "$2"
	openssl req -new -key "$PKI/$2.key" -subj "/CN=$3${4:+/O=$4}" |
		openssl x509 -req -CA "$PKI/$1.crt" -CAkey "$PKI/$1.key" -CAcreateserial -days 30 -out "$PKI/$2.crt" -extfile <(
			echo "extendedKeyUsage=serverAuth,clientAuth"
			[ -z "${5:-}" ] || echo "subjectAltName=$5"
		) 2>/dev/null
}

kubeconfig() {
	cat <<-END
		apiVersion: v1
		kind: Config
		clusters:
		  - {name: $NAME, cluster: {server: "https://$PLANE:6443", certificate-authority: $PKI/ca.crt}}
		users: [{name: $1, user: {client-certificate: $PKI/$1.crt, client-key: $PKI/$1.key}}]
		contexts: [{name: $NAME, context: {cluster: $NAME, user: $1}}]
		current-context: $NAME
	END
}
