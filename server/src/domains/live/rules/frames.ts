import type { UserId } from "../../../base/ids.ts";
import type { Kind } from "./kinds.ts";

/** One change as it stands in the log. `facts` is a JSON object with at least one member, in one line. */
export type Change = {
  readonly number: bigint;
  readonly userId: UserId;
  readonly kind: Kind;
  readonly objectId: number;
  readonly change: "created" | "changed" | "deleted";
  readonly facts: string;
};

/** The frame of a change: a client that has read it resumes behind it. */
export function changeFrame({ number, kind, objectId, change, facts }: Change): string {
  return `id: ${number}\nevent: ${kind}\ndata: {"id": ${objectId}, "change": "${change}", ${facts.slice(1)}\n\n`;
}

/** A frame about something that is read again rather than resumed: it leaves the client's place as it is. */
export function stateFrame(kind: Kind, data: Readonly<Record<string, unknown>>): string {
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Tells a client that it has heard everything up to this place, and how it got there. */
export function readyFrame(place: bigint, isResumed: boolean): string {
  return `id: ${place}\nevent: ready\ndata: {"resumed": ${isResumed}}\n\n`;
}

/** Tells a client that changes were missed, so that it reads everything again. */
export function resetFrame(place: bigint, reason: string): string {
  return `id: ${place}\nevent: reset\ndata: ${JSON.stringify({ reason })}\n\n`;
}

/** A comment that shows life and moves the place of a client to whom nothing happened: after hours it can still resume. */
export function heartbeatFrame(place: bigint): string {
  return `: alive\nid: ${place}\n\n`;
}

export function retryFrame(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}
