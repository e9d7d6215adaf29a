package main

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var rates = schema.GroupVersionResource{Group: "rates.example.com", Version: "v1", Resource: "exchangerates"}

// informers follows kinds in all three ways; since 1.35 each list comes as a watch with initial events.
func informers(ctx context.Context, config *rest.Config) (any, error) {
	client := kubernetes.NewForConfigOrDie(config)
	dynamics := dynamic.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps(namespace)
	for n := range 3 {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("informed-%d", n), Labels: map[string]string{"set": "informed"}}}
		if _, err := maps.Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}

	typed := kubeinformers.NewSharedInformerFactoryWithOptions(client, 10*time.Minute, kubeinformers.WithNamespace(namespace),
		kubeinformers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "set=informed" }))
	custom := dynamicinformer.NewDynamicSharedInformerFactory(dynamics, 0)
	bare := metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(config), 0)
	lister := typed.Core().V1().ConfigMaps().Lister()
	journal := &journal{}
	for _, informer := range []cache.SharedIndexInformer{
		typed.Core().V1().ConfigMaps().Informer(),
		custom.ForResource(rates).Informer(),
	} {
		if _, err := informer.AddEventHandler(journal); err != nil {
			return nil, err
		}
	}
	metadataLister := bare.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Lister()
	typed.Start(ctx.Done())
	custom.Start(ctx.Done())
	bare.Start(ctx.Done())
	typed.WaitForCacheSync(ctx.Done())
	custom.WaitForCacheSync(ctx.Done())
	bare.WaitForCacheSync(ctx.Done())

	known, err := lister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	partial, err := metadataLister.ByNamespace(namespace).List(labels.SelectorFromSet(labels.Set{"set": "informed"}))
	if err != nil {
		return nil, err
	}

	rate := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rates.example.com/v1", "kind": "ExchangeRate",
		"metadata": map[string]any{"name": "informed"}, "spec": map[string]any{"currency": "EUR"},
	}}
	if _, err = dynamics.Resource(rates).Namespace(namespace).Create(ctx, rate, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	one, err := maps.Get(ctx, "informed-0", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	one.Data = map[string]string{"a": "1"}
	if _, err = maps.Update(ctx, one, metav1.UpdateOptions{}); err != nil {
		return nil, err
	}
	if err = maps.Delete(ctx, "informed-1", metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	if err = until(ctx, func() (bool, error) { return len(journal.entries()) >= 6, nil }); err != nil {
		return nil, fmt.Errorf("%v: %w", journal.entries(), err)
	}
	return map[string]any{"synced": len(known), "metadata": len(partial), "journal": journal.entries()}, nil
}

// journal writes down what an informer tells.
type journal struct {
	lock  sync.Mutex
	lines []string
}

func (j *journal) add(what string, object any) {
	j.lock.Lock()
	defer j.lock.Unlock()
	if accessor, ok := object.(metav1.Object); ok {
		j.lines = append(j.lines, what+" "+accessor.GetName())
	}
}

func (j *journal) entries() []string {
	j.lock.Lock()
	defer j.lock.Unlock()
	sorted := append([]string{}, j.lines...)
	sort.Strings(sorted)
	return sorted
}

func (j *journal) OnAdd(object any, _ bool) { j.add("added", object) }
func (j *journal) OnUpdate(_, object any)   { j.add("updated", object) }
func (j *journal) OnDelete(object any)      { j.add("deleted", object) }
