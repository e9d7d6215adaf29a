//go:build tools

// Package conformance names the package of which only the tests are compiled, so that go.mod holds what they need.
package conformance

import _ "k8s.io/kubernetes/test/e2e"
