import { refuseOperation, refuseParameters, type RouteAccess } from "../../../base/access.ts";
import type { Identity } from "../../../base/identity.ts";

/** Kinds of events, in the order in which documents list them. */
export const KINDS = [
  "instance",
  "offer",
  "machine",
  "volume",
  "endpoint",
  "worker",
  "notification",
  "balance",
  "queue",
] as const;
export type Kind = (typeof KINDS)[number];

const isKind = (text: string): text is Kind => KINDS.some((kind) => kind === text);

/** The kinds that a comma-separated list names; the first unknown word when there is one. */
export function parseKinds(
  text: string | undefined,
): { readonly kinds: ReadonlySet<Kind> } | { readonly unknown: string } {
  if (text === undefined) return { kinds: new Set(KINDS) };
  const words = text.split(",").map((word) => word.trim());
  const kinds = words.filter(isKind);
  const unknown = words.find((word) => !isKind(word));
  return unknown === undefined ? { kinds: new Set(kinds) } : { unknown };
}

/** Operations that show the objects of a kind. A key that may call one of them on an object sees the events of that object. */
const READS = {
  instance: [
    { operation: "api.instance.list", permission: "instance_read" },
    { operation: "api.instance.show", permission: "instance_read" },
  ],
  offer: [{ operation: "api.offer.search", permission: "optional" }],
  machine: [
    { operation: "api.machine.list", permission: "machine_read" },
    { operation: "api.machine.show", permission: "machine_read" },
  ],
  volume: [{ operation: "api.volume.list", permission: "instance_read" }],
  endpoint: [
    { operation: "api.endpoint.list", permission: "misc" },
    { operation: "api.endpoint.show", permission: "misc" },
  ],
  worker: [{ operation: "api.endpoint.workers", permission: "misc" }],
  notification: [{ operation: "api.notice.list", permission: "user_read" }],
  balance: [{ operation: "api.user.show", permission: "user_read" }],
  queue: [
    { operation: "api.standing_request.list", permission: "instance_read" },
    { operation: "api.standing_request.show", permission: "instance_read" },
  ],
} as const satisfies Record<Kind, readonly RouteAccess[]>;

/** True when this key sees events of this kind, of all objects or of some. */
export function mayFollow(identity: Identity, kind: Kind): boolean {
  if (identity.instanceId !== undefined) return kind === "instance";
  return READS[kind].some((access) => refuseOperation(identity, access) === undefined);
}

/** True when this key sees an event of this object, which belongs to its account. */
export function maySee(identity: Identity, kind: Kind, id: number): boolean {
  if (identity.instanceId !== undefined) return kind === "instance" && id === identity.instanceId;
  if (identity.permissions === undefined) return true;
  return READS[kind].some(
    (access) =>
      refuseOperation(identity, access) === undefined && refuseParameters(identity, access, [{ id }]) === undefined,
  );
}
