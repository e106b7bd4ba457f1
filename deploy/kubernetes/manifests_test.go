// Package kubernetes_test checks the manifests against the Kubernetes API types.
package kubernetes_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// objects are the manifests of this folder.
type objects struct {
	secret core.Secret
	study  core.ConfigMap
	job    batch.Job
}

// decode decodes a manifest as a server with strict field validation does: unknown and repeated
// fields are errors, and case matters.
func decode(text string, object any) error {
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(data, object)
	return errors.Join(append(strict, err)...)
}

// read decodes the manifests of the job.
func read(t *testing.T) *objects {
	t.Helper()
	o := &objects{}
	decodeAll(t, "*.yaml", map[string]any{"v1 Secret": &o.secret, "v1 ConfigMap": &o.study, "batch/v1 Job": &o.job})
	return o
}

// decodeAll decodes the objects of files into the given types. Each type has one object.
func decodeAll(t *testing.T, glob string, types map[string]any) {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			var kind struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			name := kind.APIVersion + " " + kind.Kind
			object := types[name]
			if object == nil {
				t.Fatalf("%s: an unknown or second %s", file, name)
			}
			delete(types, name)
			if err := decode(part, object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
	for name := range types {
		t.Errorf("no %s", name)
	}
}

func TestManifests(t *testing.T) {
	o := read(t)
	if n := o.job.Spec.Completions; n == nil || *n < 2 || *n != *o.job.Spec.Parallelism || *o.job.Spec.CompletionMode != batch.IndexedCompletion {
		t.Error("the job does not run its processes side by side")
	}
	pod := o.job.Spec.Template.Spec
	if pod.RestartPolicy != core.RestartPolicyNever {
		t.Error("a pod failure policy needs restartPolicy Never")
	}
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := pod.Containers[0]
	for _, r := range o.job.Spec.PodFailurePolicy.Rules {
		if r.OnExitCodes != nil && *r.OnExitCodes.ContainerName != c.Name {
			t.Errorf("a rule for container %s", *r.OnExitCodes.ContainerName)
		}
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Error("resources are missing")
	}
	env := map[string]core.EnvVar{}
	for _, v := range c.Env {
		env[v.Name] = v
	}
	if s := env["BO_STORE"].Value; !strings.HasPrefix(s, "postgres://bo@") {
		t.Errorf("BO_STORE is %q: the password is in the secret", s)
	}
	from := env["PGPASSWORD"].ValueFrom
	if from == nil || from.SecretKeyRef.Name != o.secret.Name || o.secret.StringData[from.SecretKeyRef.Key] == "" {
		t.Error("PGPASSWORD is not in the secret")
	}
}

// The file that the pods run is the study of the ConfigMap, and it is valid.
func TestStudy(t *testing.T) {
	o := read(t)
	pod := o.job.Spec.Template.Spec
	mounts := map[string]string{}
	for _, m := range pod.Containers[0].VolumeMounts {
		mounts[m.Name] = m.MountPath
	}
	dir := ""
	for _, v := range pod.Volumes {
		if mounts[v.Name] == "" {
			t.Errorf("volume %s is not mounted", v.Name)
		}
		if v.ConfigMap != nil && v.ConfigMap.Name == o.study.Name {
			dir = mounts[v.Name]
		}
	}
	command := pod.Containers[0].Command
	study := filepath.Join(t.TempDir(), "study.yaml")
	text := o.study.Data[strings.TrimPrefix(command[len(command)-1], dir+"/")]
	if err := os.WriteFile(study, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/bo", "validate", study)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestUnknownFieldsAreErrors(t *testing.T) {
	for _, text := range []string{"spec: {completionmode: Indexed}", "spec: {replicas: 3}", "{spec: {parallelism: 1, parallelism: 2}}", "spec: {parallelism: ten}"} {
		if decode(text, &batch.Job{}) == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
