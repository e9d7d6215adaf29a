// The peer of the benchmark, and what loads both: `serve` is controller-runtime's webhook server with one validating
// handler; `load` sends AdmissionReviews as an API server does, over HTTP/2 or HTTP/1.1, and prints what it measured.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("serve or load?"))
	}
	switch os.Args[1] {
	case "serve":
		serve(os.Args[2:])
	case "load":
		load(os.Args[2:])
	default:
		fail(fmt.Errorf("serve or load, not %s", os.Args[1]))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

type machine struct {
	Spec struct {
		Replicas int `json:"replicas"`
	} `json:"spec"`
}

func serve(args []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	port := flags.Int("port", 0, "")
	dir := flags.String("certs", "", "")
	_ = flags.Parse(args)
	logf.SetLogger(logr.Discard())
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *dir})
	handler := admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		var object machine
		if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if object.Spec.Replicas > 10 {
			return admission.Denied("no machine has more than 10 replicas")
		}
		return admission.Allowed("")
	})
	server.Register("/validate/machines", &webhook.Admission{Handler: handler})
	if err := server.Start(context.Background()); err != nil {
		fail(err)
	}
}

type result struct {
	Requests int     `json:"requests"`
	Failures int     `json:"failures"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50Ms"`
	P99      float64 `json:"p99Ms"`
}

func load(args []string) {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	url := flags.String("url", "", "")
	ca := flags.String("ca", "", "")
	body := flags.String("body", "", "")
	width := flags.Int("width", 50, "")
	http1 := flags.Bool("http1", false, "")
	warmUp := flags.Duration("warmup", time.Second, "")
	last := flags.Duration("for", 3*time.Second, "")
	_ = flags.Parse(args)
	pem, err := os.ReadFile(*ca)
	if err != nil {
		fail(err)
	}
	review, err := os.ReadFile(*body)
	if err != nil {
		fail(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:   !*http1,
		MaxIdleConnsPerHost: *width,
	}
	if *http1 {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	run(client, *url, review, *width, *warmUp)
	out, _ := json.Marshal(run(client, *url, review, *width, *last))
	fmt.Println(string(out))
}

func run(client *http.Client, url string, review []byte, width int, last time.Duration) result {
	var group sync.WaitGroup
	taken := make([][]float64, width)
	failures := make([]int, width)
	started := time.Now()
	for i := 0; i < width; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Since(started) < last {
				since := time.Now()
				if ask(client, url, review) {
					taken[i] = append(taken[i], float64(time.Since(since).Microseconds())/1000)
				} else {
					failures[i]++
				}
			}
		}()
	}
	group.Wait()
	seconds := time.Since(started).Seconds()
	var all []float64
	failed := 0
	for i := range taken {
		all = append(all, taken[i]...)
		failed += failures[i]
	}
	sort.Float64s(all)
	at := func(part float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return all[int(part*float64(len(all)-1))]
	}
	return result{Requests: len(all), Failures: failed, Seconds: seconds, P50: at(0.5), P99: at(0.99)}
}

func ask(client *http.Client, url string, review []byte) bool {
	response, err := client.Post(url, "application/json", bytes.NewReader(review))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == 200 && bytes.Contains(answer, []byte(`"allowed":true`))
}
