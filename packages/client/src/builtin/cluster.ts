/** Namespaces, Events, CustomResourceDefinitions. */
import { allNamespaces, type apiextensionsv1, builtinDescription, type corev1 } from "../kinds/index.ts";
import {
  type AnyObject,
  type GenMeta,
  headerOf,
  KubeObject,
  type ListOptions,
  ObjectList,
  splitMeta,
  type WaitOptions,
} from "../objects/index.ts";
import { SpecObject } from "./base.ts";

/** A Namespace. */
export class Namespace extends SpecObject<corev1.Namespace> {
  static override readonly description = builtinDescription("", "v1", "Namespace");

  static gen(o: Omit<GenMeta, "namespace">): Namespace {
    const { meta } = splitMeta(o);
    return new Namespace({ ...headerOf(Namespace.description), metadata: meta } as corev1.Namespace);
  }

  /** Resolves when the namespace and all that was in it are gone. */
  async waitGone(o?: WaitOptions): Promise<void> {
    await this.wait("delete", o);
  }
}

/** An Event of the core group: what `kubectl describe` shows. */
export class Event extends KubeObject<corev1.Event> {
  static override readonly description = builtinDescription("", "v1", "Event");

  /**
   * The events about an object.
   *
   * @example
   * ```ts
   * for await (const event of Event.for(pod)) console.log(event.body.reason, event.body.message);
   * ```
   */
  static for(object: AnyObject, o: Omit<ListOptions, "fieldSelector" | "namespace"> = {}): ObjectList<Event> {
    const { kind, namespaced } = object.description;
    const about = {
      "involvedObject.kind": kind,
      "involvedObject.name": object.name,
      ...(object.uid !== undefined && { "involvedObject.uid": object.uid }),
    };
    return ObjectList.deferred(async () => {
      const client = await object.connected();
      // Those about objects without a namespace may be in any.
      const namespace = namespaced ? object.namespace : allNamespaces;
      return client.list(Event, { ...o, namespace, fieldSelector: about });
    });
  }
}

/** The definition of a custom kind. */
export class CustomResourceDefinition extends SpecObject<apiextensionsv1.CustomResourceDefinition> {
  static override readonly description = builtinDescription("apiextensions.k8s.io", "v1", "CustomResourceDefinition");

  /** Resolves when the server serves the kind. */
  async waitEstablished(o?: WaitOptions): Promise<this> {
    await this.wait("condition=Established", o);
    return this;
  }
}
