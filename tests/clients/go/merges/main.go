// Merges strategic patches into pods with the code that kube-apiserver itself uses. Reads one JSON object with `doc` and
// `patch` from each line, and writes a list of what may become of it: a `value`, or an `error`. That code walks maps,
// which Go does in no certain order, so that a patch may have more than one outcome.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// So many that an outcome of one half or of a fifth is not missed.
const attempts = 40

type task struct {
	Doc   map[string]any `json:"doc"`
	Patch map[string]any `json:"patch"`
}

type outcome struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		answers, err := outcomes(lines.Bytes())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "[%s]\n", strings.Join(answers, ","))
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

// outcomes tells each thing that becomes of a task, once.
func outcomes(line []byte) ([]string, error) {
	seen := map[string]bool{}
	var answers []string
	for range attempts {
		// Merging changes what it is given.
		var one task
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, err
		}
		answer, err := json.Marshal(merge(one))
		if err != nil {
			return nil, err
		}
		if !seen[string(answer)] {
			seen[string(answer)] = true
			answers = append(answers, string(answer))
		}
	}
	return answers, nil
}

func merge(one task) outcome {
	value, err := strategicpatch.StrategicMergeMapPatch(one.Doc, one.Patch, corev1.Pod{})
	if err != nil {
		return outcome{Error: err.Error()}
	}
	return outcome{Value: value}
}
