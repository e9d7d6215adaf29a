// What people do with client-go and controller-runtime. Each program tells what it saw as JSON, for the test to judge.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

// A program gets the cluster, and tells what it saw.
type program func(context.Context, *rest.Config) (any, error)

var programs = map[string]program{
	"typed":     typed,
	"informers": informers,
	"election":  election,
	"manager":   manage,
	"operator":  operate,
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	// The default lets five requests pass in a second.
	config.QPS = -1
	seen, err := programs[name](ctx, config)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}

// until asks again and again until the answer is yes.
func until(ctx context.Context, ask func() (bool, error)) error {
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
