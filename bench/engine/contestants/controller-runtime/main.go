// The job of this benchmark with controller-runtime: read from the cache, patch the status, and where a child is wanted
// apply it before. Ten workers, as the floor has ten connections, and no limit of requests.
//
// Children are applied and not watched, as everybody here does: who watches them is measured in bench/reconcile.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	workers = 10
	owner   = client.FieldOwner("controller-runtime")
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	// The default lets twenty requests pass in a second.
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err = clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err = addTypes(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{os.Getenv("BENCH_NAMESPACE"): {}}},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{manager.GetClient(), os.Getenv("BENCH_CHILD") != ""})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type reconciler struct {
	client.Client
	withChild bool
}

// Reconcile makes the status tell the size, and the child too where one is wanted.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// Its own write comes back as an event: nothing is left to do then.
	if widget.Status.Size == widget.Spec.Size {
		return ctrl.Result{}, nil
	}
	if r.withChild {
		if err := r.Apply(ctx, childOf(widget), owner, client.ForceOwnership); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := widget.DeepCopy()
	widget.Status.Size = widget.Spec.Size
	// An object may be gone by now.
	return ctrl.Result{}, client.IgnoreNotFound(r.Status().Patch(ctx, widget, client.MergeFrom(before)))
}

func childOf(widget *Widget) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(widget.Name, widget.Namespace).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(groupVersion.String()).
			WithKind("Widget").
			WithName(widget.Name).
			WithUID(widget.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithData(map[string]string{"size": strconv.FormatInt(widget.Spec.Size, 10)})
}
