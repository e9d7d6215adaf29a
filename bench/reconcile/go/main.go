// The job of this benchmark with controller-runtime, as kubebuilder's book teaches it: read from the cache, CreateOrUpdate
// each child, patch the status. Ten workers and no limit of requests, as Lotse has by default.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const workers = 10

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
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type reconciler struct{ client.Client }

// Reconcile keeps three ConfigMaps for a Widget, of which one tells its size.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for part, data := range map[string]map[string]string{
		"settings": {"size": strconv.FormatInt(widget.Spec.Size, 10)},
		"rules":    {"of": widget.Name},
		"pages":    {"of": widget.Name},
	} {
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name + "-" + part, Namespace: widget.Namespace}}
		if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
			child.Data = data
			return controllerutil.SetControllerReference(widget, child, r.Scheme())
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	if widget.Status.Size == widget.Spec.Size {
		return ctrl.Result{}, nil
	}
	before := widget.DeepCopy()
	widget.Status.Size = widget.Spec.Size
	return ctrl.Result{}, r.Status().Patch(ctx, widget, client.MergeFrom(before))
}
