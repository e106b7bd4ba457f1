package kubernetes_test

import (
	"encoding/json"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of Katib 0.19, as far as the manifests use them: kubeflow.org/v1beta1 Experiment, and
// config.kubeflow.org/v1beta1 KatibConfig. The checksum database does not have Katib's module.
type (
	experiment struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Objective struct {
				Type                  string   `json:"type"`
				Goal                  *float64 `json:"goal"`
				ObjectiveMetricName   string   `json:"objectiveMetricName"`
				AdditionalMetricNames []string `json:"additionalMetricNames"`
			} `json:"objective"`
			Algorithm struct {
				AlgorithmName     string    `json:"algorithmName"`
				AlgorithmSettings []setting `json:"algorithmSettings"`
			} `json:"algorithm"`
			ParallelTrialCount  *int32 `json:"parallelTrialCount"`
			MaxTrialCount       *int32 `json:"maxTrialCount"`
			MaxFailedTrialCount *int32 `json:"maxFailedTrialCount"`
			Parameters          []struct {
				Name          string `json:"name"`
				ParameterType string `json:"parameterType"`
				FeasibleSpace struct {
					Max          string   `json:"max"`
					Min          string   `json:"min"`
					List         []string `json:"list"`
					Step         string   `json:"step"`
					Distribution string   `json:"distribution"`
				} `json:"feasibleSpace"`
			} `json:"parameters"`
			TrialTemplate struct {
				PrimaryContainerName string `json:"primaryContainerName"`
				TrialParameters      []struct {
					Name        string `json:"name"`
					Description string `json:"description"`
					Reference   string `json:"reference"`
				} `json:"trialParameters"`
				TrialSpec json.RawMessage `json:"trialSpec"`
			} `json:"trialTemplate"`
		} `json:"spec"`
	}
	setting struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	katibConfig struct {
		meta.TypeMeta `json:",inline"`
		Runtime       struct {
			Suggestions []struct {
				AlgorithmName  string `json:"algorithmName"`
				core.Container `json:",inline"`
			} `json:"suggestions"`
		} `json:"runtime"`
	}
)

// The experiment uses the algorithm of the configuration, and its job uses every parameter. A test in server/katib
// validates its parameters and settings.
func TestKatib(t *testing.T) {
	var (
		e      experiment
		config katibConfig
		job    batch.Job
	)
	decodeAll(t, "katib/*.yaml", map[string]any{"kubeflow.org/v1beta1 Experiment": &e, "config.kubeflow.org/v1beta1 KatibConfig": &config})
	if err := decode(string(e.Spec.TrialTemplate.TrialSpec), &job); err != nil {
		t.Fatal(err)
	}
	entry := config.Runtime.Suggestions[0]
	if entry.AlgorithmName != e.Spec.Algorithm.AlgorithmName || entry.Image == "" || entry.Resources.Limits.Memory().String() != "100Mi" {
		t.Errorf("the algorithm is %s with %v", entry.AlgorithmName, entry.Resources)
	}
	if len(entry.Ports) > 0 {
		t.Error("Katib rejects a configuration with its own port")
	}
	c := job.Spec.Template.Spec.Containers[0]
	if c.Name != e.Spec.TrialTemplate.PrimaryContainerName {
		t.Errorf("the primary container is not %s", c.Name)
	}
	command := strings.Join(c.Command, " ")
	for i, p := range e.Spec.Parameters {
		to := e.Spec.TrialTemplate.TrialParameters[i]
		if to.Reference != p.Name || strings.Count(command, "${trialParameters."+to.Name+"}") != 1 {
			t.Errorf("the job does not use the parameter %s", p.Name)
		}
	}
	for _, text := range []string{"spec: {parameter: []}", "spec: {objective: {goal: low}}", "spec: {parameters: [{feasibleSpace: {minimum: 1}}]}"} {
		if decode(text, &experiment{}) == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
