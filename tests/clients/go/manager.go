package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "rates.example.com/controller-runtime"

var kind = schema.GroupVersionKind{Group: "rates.example.com", Version: "v1", Kind: "ExchangeRate"}

// operate runs the operator of manage until it is told to stop, or fails.
func operate(_ context.Context, config *rest.Config) (any, error) {
	manager, err := newManager(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return "stopped", manager.Start(ctrl.SetupSignalHandler())
}

// newManager sets up a whole operator: leader election, caches, a controller that owns Deployments, status, finalizer,
// events.
func newManager(ctx context.Context, config *rest.Config) (ctrl.Manager, error) {
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "manager.rates.example.com",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, err
	}
	if err = manager.GetFieldIndexer().IndexField(ctx, &appsv1.Deployment{}, "image", func(o client.Object) []string {
		return []string{o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image}
	}); err != nil {
		return nil, err
	}
	reconciler := &reconciler{Client: manager.GetClient(), record: func(o client.Object, note string) {
		manager.GetEventRecorder("controller-runtime").Eventf(o, nil, corev1.EventTypeNormal, "Rated", "Rate", "%s", note)
	}}
	if err = ctrl.NewControllerManagedBy(manager).For(newRate("")).Owns(&appsv1.Deployment{}).Complete(reconciler); err != nil {
		return nil, err
	}
	return manager, nil
}

// manage runs the operator, and plays its user.
func manage(ctx context.Context, config *rest.Config) (any, error) {
	manager, err := newManager(ctx, config)
	if err != nil {
		return nil, err
	}
	own, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(own) }()
	seen, err := drive(ctx, manager)
	if err != nil {
		return nil, err
	}
	stop()
	select {
	case err = <-ended:
	case <-time.After(20 * time.Second):
		err = fmt.Errorf("the manager does not end")
	}
	return seen, err
}

// drive plays the user: makes an object, waits until the operator has done its work, and deletes it.
func drive(ctx context.Context, manager ctrl.Manager) (map[string]any, error) {
	direct, err := client.New(manager.GetConfig(), client.Options{Scheme: manager.GetScheme(), Mapper: manager.GetRESTMapper()})
	if err != nil {
		return nil, err
	}
	select {
	case <-manager.Elected():
	case <-ctx.Done():
		return nil, fmt.Errorf("nobody was elected: %w", ctx.Err())
	}
	rate := newRate("managed")
	rate.Object["spec"] = map[string]any{"currency": "CHF"}
	if err = direct.Create(ctx, rate); err != nil {
		return nil, err
	}
	key := client.ObjectKeyFromObject(rate)
	if err = until(ctx, func() (bool, error) {
		err := direct.Get(ctx, key, rate)
		value, found, _ := unstructured.NestedInt64(rate.Object, "status", "available")
		return found && value == 2, err
	}); err != nil {
		return nil, fmt.Errorf("never available: %w", err)
	}
	seen := map[string]any{"finalizers": rate.GetFinalizers()}
	indexed := &appsv1.DeploymentList{}
	if err = manager.GetClient().List(ctx, indexed, client.InNamespace(namespace), client.MatchingFields{"image": "rates:CHF"}); err != nil {
		return nil, err
	}
	seen["indexed"] = len(indexed.Items)
	// The recorder writes in its own time.
	events := &corev1.EventList{}
	if err = until(ctx, func() (bool, error) {
		err := direct.List(ctx, events, client.InNamespace(namespace), client.MatchingFields{"involvedObject.name": rate.GetName()})
		return len(events.Items) > 0, err
	}); err != nil {
		return nil, fmt.Errorf("no event: %w", err)
	}
	seen["event"] = events.Items[0].Message
	if err = direct.Delete(ctx, rate); err != nil {
		return nil, err
	}
	if err = until(ctx, func() (bool, error) {
		err := direct.Get(ctx, key, rate)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}); err != nil {
		return nil, fmt.Errorf("never gone: %w", err)
	}
	deployment := &appsv1.Deployment{}
	if err = until(ctx, func() (bool, error) {
		err := direct.Get(ctx, key, deployment)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}); err != nil {
		return nil, fmt.Errorf("its Deployment is not collected: %w", err)
	}
	return seen, nil
}

func newRate(name string) *unstructured.Unstructured {
	rate := &unstructured.Unstructured{}
	rate.SetGroupVersionKind(kind)
	rate.SetName(name)
	rate.SetNamespace(namespace)
	return rate
}

type reconciler struct {
	client.Client
	record func(client.Object, string)
}

// Reconcile keeps a Deployment for each rate, and tells in the status how much of it is there.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	rate := newRate("")
	if err := r.Get(ctx, request.NamespacedName, rate); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !rate.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(rate, finalizer) {
			return ctrl.Result{}, r.Update(ctx, rate)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(rate, finalizer) {
		if err := r.Update(ctx, rate); err != nil {
			return ctrl.Result{}, err
		}
		r.record(rate, "has a finalizer")
	}
	currency, _, _ := unstructured.NestedString(rate.Object, "spec", "currency")
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: request.Name, Namespace: request.Namespace}}
	if _, err := controllerutil.CreateOrPatch(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"rate": request.Name}
		replicas := int32(2)
		deployment.Spec.Replicas = &replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "rates:" + currency}}
		return controllerutil.SetControllerReference(rate, deployment, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := rate.DeepCopy()
	if err := unstructured.SetNestedField(rate.Object, int64(deployment.Status.AvailableReplicas), "status", "available"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Patch(ctx, rate, client.MergeFrom(before))
}
