/**
 * The life of one object, as this process sees it. Pure: a state, what happens, the next state.
 *
 *     new ── settled ──► alive
 *      │                   │
 *      └───── marked ──────┴──► deleting ── released ──► released ──► gone
 *
 * From every state the object can be `missing` (a write found it no longer there: it is released, the stream will say so)
 * or `gone` (the stream said so). What a turn says that was under way when its object went changes nothing any more.
 */
import type { KubeBody } from "@lotse/client";

/** See the module comment. */
export type Life =
  /** Nothing has been handled for it in this process yet: resume handlers are owed. */
  | { readonly state: "new" }
  | { readonly state: "alive" }
  /** Its deletion mark has been seen: what ran for it before was told to stop. */
  | {
      readonly state: "deleting";
      /** Nothing had been handled for it before: resume handlers for deleted objects are owed. */
      readonly isNew: boolean;
      /** Its deletion was handled while it was still there. */
      readonly handled: boolean;
    }
  /** This operator's finalizer is off: nothing is left to do but to wait for the end. */
  | { readonly state: "released"; readonly handled: boolean }
  /** It is no more; `body` is the last that was known of it. */
  | { readonly state: "gone"; readonly body: KubeBody; readonly handled: boolean };

/** What happens in the life of an object. */
export type LifeEvent =
  /** A turn has left nothing open. */
  | { readonly type: "settled" }
  /** Its deletion mark was seen for the first time. */
  | { readonly type: "marked" }
  /** Its delete handlers are done; nothing has to be done after the fact. */
  | { readonly type: "deletion handled" }
  /** This operator's finalizer was taken off an object that is being deleted. */
  | { readonly type: "released" }
  /** A write found that the object is no longer there. */
  | { readonly type: "missing" }
  /** The stream says that the object is no longer there. */
  | { readonly type: "gone"; readonly body: KubeBody };

/** How each life begins. */
export const NEW: Life = Object.freeze({ state: "new" });

const ALIVE: Life = Object.freeze({ state: "alive" });

/** The state after `event`; throws where that cannot happen, which is a defect of the caller. */
export function nextLife(life: Life, event: LifeEvent): Life {
  switch (event.type) {
    case "settled":
      if (life.state === "new") return ALIVE;
      return life.state === "deleting" && life.isNew ? { ...life, isNew: false } : life;
    case "marked":
      if (!isAlive(life)) throw impossible(life, event);
      return { state: "deleting", isNew: life.state === "new", handled: false };
    case "deletion handled":
      if (life.state !== "deleting" && life.state !== "gone") throw impossible(life, event);
      return life.handled ? life : { ...life, handled: true };
    case "released":
      if (life.state === "gone") return life;
      if (life.state !== "deleting") throw impossible(life, event);
      return { state: "released", handled: life.handled };
    case "missing":
      return life.state === "released" || life.state === "gone"
        ? life
        : { state: "released", handled: isHandled(life) };
    case "gone":
      return { state: "gone", body: event.body, handled: isHandled(life) };
  }
}

/** Whether the object is there, and its deletion mark has not been seen. */
export function isAlive({ state }: Life): boolean {
  return state === "new" || state === "alive";
}

/** Whether nothing can be done for the object any more but to take notice of its end. */
export function isOver({ state }: Life): boolean {
  return state === "released" || state === "gone";
}

/** Whether nothing has been handled for the object in this process yet. */
export function isFirstSight(life: Life): boolean {
  return life.state === "new" || (life.state === "deleting" && life.isNew);
}

/** Whether the deletion of the object was handled, so that nothing has to be done after the fact. */
export function isHandled(life: Life): boolean {
  return "handled" in life && life.handled;
}

/** The last known body of an object that is gone; undefined while it is there. */
export function lastOf(life: Life): KubeBody | undefined {
  return life.state === "gone" ? life.body : undefined;
}

function impossible({ state }: Life, { type }: LifeEvent): Error {
  return new Error(`an object that is ${state} cannot become ${type}`);
}
