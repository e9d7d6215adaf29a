package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// typed works through the typed client: every body is protobuf.
func typed(ctx context.Context, config *rest.Config) (any, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	seen := map[string]any{}

	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	seen["version"] = version.Major + "." + version.Minor

	made, err := maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "typed-", Labels: map[string]string{"set": "typed"}},
		Data:       map[string]string{"a": "1"},
		BinaryData: map[string][]byte{"b": {0, 1, 255}},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	seen["bytes"] = made.BinaryData["b"]

	stale := made.DeepCopy()
	made.Data["a"] = "2"
	if made, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	seen["conflict"] = apierrors.IsConflict(err)
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := maps.Get(ctx, made.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		fresh.Data["c"] = "3"
		_, err = maps.Update(ctx, fresh, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}

	patch := []byte(`{"data":{"d":"4"}}`)
	if made, err = maps.Patch(ctx, made.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	apply := applycorev1.ConfigMap(made.Name, namespace).WithData(map[string]string{"e": "5"})
	if made, err = maps.Apply(ctx, apply, metav1.ApplyOptions{FieldManager: "typed"}); err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	seen["data"] = made.Data

	_, err = maps.Get(ctx, "nowhere", metav1.GetOptions{})
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		seen["missing"] = status.Status().Message
	}

	pages := 0
	options := metav1.ListOptions{LabelSelector: "set=typed", Limit: 1}
	if _, err = maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "typed", Labels: map[string]string{"set": "typed"}},
	}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	for {
		list, err := maps.List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		pages++
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	seen["pages"] = pages

	watcher, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "set=typed", ResourceVersion: made.ResourceVersion})
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	defer watcher.Stop()
	background := metav1.DeletePropagationBackground
	if err = maps.DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background},
		metav1.ListOptions{LabelSelector: "set=typed"}); err != nil {
		return nil, fmt.Errorf("delete collection: %w", err)
	}
	events := []string{}
	for event := range watcher.ResultChan() {
		events = append(events, string(event.Type))
		if len(events) == 3 {
			break
		}
	}
	seen["events"] = events

	_, err = client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "typed"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	seen["role"] = err == nil
	return seen, nil
}
