package kubernetes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The service reaches the container, the container reads its secrets, and the workers use the service.
func TestServer(t *testing.T) {
	var (
		server  apps.Deployment
		service core.Service
		workers batch.Job
		budget  policy.PodDisruptionBudget
		network networking.NetworkPolicy
	)
	decodeAll(t, "server/*.yaml", map[string]any{"apps/v1 Deployment": &server, "v1 Service": &service, "batch/v1 Job": &workers, "policy/v1 PodDisruptionBudget": &budget, "networking.k8s.io/v1 NetworkPolicy": &network})
	pod := server.Spec.Template
	for key, value := range service.Spec.Selector {
		if pod.Labels[key] != value || server.Spec.Selector.MatchLabels[key] != value {
			t.Errorf("the label %s=%s of the service is not a label of the pods", key, value)
		}
	}
	c := pod.Spec.Containers[0]
	if service.Spec.Ports[0].TargetPort.StrVal != c.Ports[0].Name || c.ReadinessProbe.HTTPGet.Port.StrVal != c.Ports[0].Name {
		t.Error("the ports differ")
	}
	if key := slices.Index(c.Args, "--session-key"); key < 0 || c.Args[key+1] != c.VolumeMounts[0].MountPath+"/session-key" {
		t.Error("the replicas do not share the sessions of browsers")
	}
	if !maps.Equal(budget.Spec.Selector.MatchLabels, server.Spec.Selector.MatchLabels) || budget.Spec.MaxUnavailable.IntValue() >= int(*server.Spec.Replicas) {
		t.Error("a disruption may take all replicas")
	}
	if spread := pod.Spec.TopologySpreadConstraints; len(spread) != 1 || spread[0].TopologyKey != core.LabelHostname || !maps.Equal(spread[0].LabelSelector.MatchLabels, pod.Labels) {
		t.Error("one node may have all replicas")
	}
	in, clients := network.Spec.Ingress[0], workers.Spec.Template.Labels
	if !maps.Equal(network.Spec.PodSelector.MatchLabels, server.Spec.Selector.MatchLabels) || len(network.Spec.Ingress) != 1 || len(in.From) != 1 || len(in.From[0].PodSelector.MatchLabels) == 0 {
		t.Error("the policy does not protect the service")
	}
	for key, value := range in.From[0].PodSelector.MatchLabels {
		if clients[key] != value {
			t.Errorf("the policy refuses the workers: they have no label %s=%s", key, value)
		}
	}
	if in.Ports[0].Port.StrVal != c.Ports[0].Name {
		t.Error("the policy refuses the port of the service")
	}
	for _, want := range []struct {
		port     int
		protocol core.Protocol
	}{{53, core.ProtocolUDP}, {53, core.ProtocolTCP}, {5432, core.ProtocolTCP}} {
		if !slices.ContainsFunc(network.Spec.Egress[0].Ports, func(p networking.NetworkPolicyPort) bool {
			protocol := core.ProtocolTCP
			if p.Protocol != nil {
				protocol = *p.Protocol
			}
			return *p.Port == intstr.FromInt(want.port) && protocol == want.protocol
		}) {
			t.Errorf("the service does not reach port %d by %s", want.port, want.protocol)
		}
	}
	if !slices.Contains(c.Args, "0.0.0.0:7040") || c.Ports[0].ContainerPort != 7040 || service.Spec.Ports[0].Port != 7040 {
		t.Error("the port is not 7040")
	}
	tokens := c.Args[slices.Index(c.Args, "--tokens")+1]
	if c.VolumeMounts[0].MountPath != strings.TrimSuffix(tokens, "/bo-tokens.json") || pod.Spec.Volumes[0].Secret.SecretName != "bo-tokens" {
		t.Error("the tokens are not the secret")
	}
	for name, spec := range map[string]core.PodSpec{"server": pod.Spec, "workers": workers.Spec.Template.Spec} {
		own := spec.Containers[0]
		if !*spec.SecurityContext.RunAsNonRoot || *spec.SecurityContext.RunAsUser != 65532 || *own.SecurityContext.AllowPrivilegeEscalation {
			t.Errorf("%s: the container may run as root", name)
		}
		if own.Resources.Requests.Cpu().IsZero() || own.Resources.Limits.Memory().IsZero() {
			t.Errorf("%s: resources are missing", name)
		}
	}
	env := workers.Spec.Template.Spec.Containers[0].Env
	if env[0].Name != "BO_SERVER" || env[0].Value != "http://"+service.Name+":7040" || env[1].Name != "BO_TOKEN" || env[1].ValueFrom.SecretKeyRef == nil {
		t.Error("the workers do not have the address of the service and a token")
	}
}
