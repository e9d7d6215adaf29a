/**
 * What the compiler makes of the children that a function returns: for each item the form that it has to have, so that a
 * mistake is told at its field and not as "not one of these".
 */
import type { KubeObject, ObjectMeta } from "@lotse/client";
import type { ExternalChild, OrderedChild } from "./children.ts";

/** `X` where it is made of children, else the nearest that would be. */
export type CheckedChildren<X> = [X] extends [Returned<X>] ? X : Returned<X>;

/** `C` where it is an object or a manifest, else the nearest that would be. */
export type CheckedObject<C> = [C] extends [ObjectForm<C>] ? C : ObjectForm<C>;

type Returned<X> = X extends PromiseLike<infer Later> ? Promise<ListForm<Later>> : ListForm<X>;

type ListForm<X> = X extends KubeObject
  ? X
  : X extends readonly (infer Item)[]
    ? readonly ItemForm<Item>[]
    : X extends Iterable<infer Item>
      ? Iterable<ItemForm<Item>>
      : ItemForm<X>;

type ItemForm<Item> = Item extends KubeObject | false | null | undefined
  ? Item
  : Item extends { readonly read: infer Read }
    ? ExternalChild<LiveOf<Read>>
    : Item extends { readonly child: infer Child }
      ? Omit<OrderedChild, "child"> & { readonly child: ObjectForm<Child> } & Known<Item, OrderedChild, "a child">
      : ObjectForm<Item>;

/** What `read` finds. */
type LiveOf<Read> = Read extends () => infer Found
  ? unknown extends Awaited<Found>
    ? unknown
    : NonNullable<Awaited<Found>>
  : unknown;

type ObjectForm<Child> = Child extends KubeObject
  ? Child
  : string extends keyof Child
    ? Child
    : Child extends { readonly metadata: infer Meta }
      ? ManifestHeader & { readonly metadata: { readonly name: string } & Known<Meta, ObjectMeta, "metadata"> }
      : ManifestHeader & { readonly metadata: { readonly name: string } };

interface ManifestHeader {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The fields of `Given` with the types that they have in `Form`; one that is not there has a sentence for a type. */
type Known<Given, Form, What extends string> = {
  [Key in keyof Given]: Key extends keyof Form ? Form[Key] : `${What} has no field ${Key & string}`;
};
