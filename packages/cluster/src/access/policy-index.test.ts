import fc from "fast-check";
import { expect, it } from "vitest";
import { type ApiObject, fromStore, listAt, type RequestUser, toStore } from "../registry/index.ts";
import { Store } from "../store/index.ts";
import { BindingIndex } from "./policy-index.ts";
import { accountUsername } from "./users.ts";

const TABLE = "rolebindings.rbac.authorization.k8s.io";

const binding = (namespace: string, name: string, subjects: readonly object[]) =>
  toStore({
    kind: "RoleBinding",
    metadata: { name, namespace, resourceVersion: "" },
    subjects,
  } as unknown as ApiObject);

const name = fc.constantFrom("a", "b", "c");
const subject = fc.oneof(
  fc.record({ kind: fc.constantFrom("User", "Group", "Robot"), name }),
  fc.record({ kind: fc.constant("ServiceAccount"), name }),
  fc.record({ kind: fc.constant("ServiceAccount"), name, namespace: fc.constantFrom("x", "y") }),
);
const step = fc.record({
  namespace: fc.constantFrom("x", "y"),
  name: fc.constantFrom("one", "two", "three"),
  /** None: the binding goes. */
  subjects: fc.option(fc.array(subject, { maxLength: 3 })),
});
const user: fc.Arbitrary<RequestUser> = fc.record({
  username: fc.oneof(
    name,
    fc.tuple(fc.constantFrom("x", "y"), name).map((place) => accountUsername(...place)),
  ),
  groups: fc.uniqueArray(name, { maxLength: 2 }),
});

/** Every binding of the namespace, looked at one by one. */
function naive(store: Store, { username, groups }: RequestUser, namespace: string): string[] {
  return store
    .list(TABLE, `${namespace}/`)
    .map(({ object }) => fromStore(object))
    .filter((one) =>
      listAt(one, "subjects").some((who) => {
        if (who.kind === "Group") return groups.includes(String(who.name));
        if (who.kind === "User") return who.name === username;
        return (
          who.kind === "ServiceAccount" &&
          username === accountUsername(String(who.namespace ?? namespace), String(who.name))
        );
      }),
    )
    .map(({ metadata }) => metadata.name);
}

it("finds the bindings of a user as a look at all of them does, whatever happened before", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(12), user, (steps, asked, who) => {
      const store = new Store({ now: () => 0 });
      const index = new BindingIndex(store, TABLE);
      const check = () => {
        for (const place of ["x", "y", "z"]) {
          expect(index.of(who, place).map(({ metadata }) => metadata.name)).toEqual(naive(store, who, place));
        }
      };
      for (const [i, { namespace, name: title, subjects }] of steps.entries()) {
        // Whether it begins to follow before, between or after the changes must not matter.
        if (i === asked) check();
        const key = `${namespace}/${title}`;
        const there = store.get(TABLE, key);
        if (!subjects) {
          if (there) store.delete(TABLE, key, there.revision);
        } else if (there) store.update(TABLE, key, there.revision, binding(namespace, title, subjects));
        else store.create(TABLE, key, binding(namespace, title, subjects));
      }
      check();
    }),
  );
});
