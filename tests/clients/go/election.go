package main

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// election lets two candidates run for one Lease: the second leads when the first has gone.
func election(ctx context.Context, config *rest.Config) (any, error) {
	client := kubernetes.NewForConfigOrDie(config)
	var lock sync.Mutex
	var leaders []string
	running := func(name string) (context.CancelFunc, <-chan struct{}) {
		own, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			leaderelection.RunOrDie(own, leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta:  metav1.ObjectMeta{Name: "election", Namespace: namespace},
					Client:     client.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name},
				},
				LeaseDuration:   4 * time.Second,
				RenewDeadline:   3 * time.Second,
				RetryPeriod:     200 * time.Millisecond,
				ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) {
						lock.Lock()
						defer lock.Unlock()
						leaders = append(leaders, name)
					},
					OnStoppedLeading: func() {},
				},
			})
		}()
		return stop, done
	}
	leading := func(count int) error {
		return until(ctx, func() (bool, error) {
			lock.Lock()
			defer lock.Unlock()
			return len(leaders) >= count, nil
		})
	}
	stopFirst, firstDone := running("first")
	if err := leading(1); err != nil {
		return nil, err
	}
	stopSecond, secondDone := running("second")
	// The first renews its lease a few times while the second waits.
	time.Sleep(time.Second)
	stopFirst()
	<-firstDone
	if err := leading(2); err != nil {
		return nil, err
	}
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, "election", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	stopSecond()
	<-secondDone
	return map[string]any{
		"leaders":     leaders,
		"holder":      lease.Spec.HolderIdentity,
		"transitions": lease.Spec.LeaseTransitions,
	}, nil
}
