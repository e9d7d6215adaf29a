/** What `kubectl explain` says of the fields that all objects have. The kinds of Kubernetes come without prose. */

/** Of an object itself. */
export const API_VERSION =
  "APIVersion defines in which version of its schema this object is written, as group/version.";
/** Describes `kind` of every object. */
export const KIND = "Kind is the name of the type that this object has, such as Deployment.";
/** Describes `metadata` of every object. */
export const METADATA =
  "Standard object's metadata: what it is called, whose it is, and what the server knows about it.";
/** Of a list. */
export const ITEMS = "The objects of the list.";
/** Describes `metadata` of every list. */
export const LIST_METADATA = "Standard list metadata: which state of the server the list shows, and where it goes on.";

/** Of the metadata. */
export const OBJECT_META: Readonly<Record<string, string>> = {
  annotations: "Annotations are texts by key that programs keep with the object; no selector finds them.",
  creationTimestamp: "CreationTimestamp is a timestamp of the moment at which the server stored the object first.",
  deletionGracePeriodSeconds: "How many seconds the object was given to end when its deletion was asked for.",
  deletionTimestamp: "When the object goes, after its deletion was asked for; no client can take that back.",
  finalizers: "Names of those who have something to do before the object may go; the last one to leave lets it.",
  generateName: "What a name begins with that the server is asked to make up.",
  generation: "Counts the changes of what is wanted; the status may say up to which one its controller has looked.",
  labels: "Labels are short texts by key by which selectors find the object.",
  managedFields: "Which fields were set by whom; server-side apply finds conflicts by it.",
  name: "The name of the object, which is unique for its kind and its namespace, and stays.",
  namespace: "The namespace in which the name is unique; absent for kinds of the whole cluster.",
  ownerReferences: "The objects that this one belongs to; when all of them are gone, it goes, too.",
  resourceVersion: "The state of the server in which this object was stored last; to be compared and sent back.",
  selfLink: "A path to the object that servers have ceased to tell.",
  uid: "Tells this object from others of the same name before and after it.",
};
