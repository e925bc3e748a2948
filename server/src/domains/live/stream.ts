import { Readable } from "node:stream";
import type { Identity } from "../../base/identity.ts";
import { maySee, type Kind } from "./rules/kinds.ts";

/** Unread bytes at which a follower is cut off: it resumes behind what it has read. */
const UNREAD_BYTES_MAX = 262_144;

/** The opener of a stream, who is looked up again and again while it lasts. */
export type Follower = {
  readonly identity: Identity;
  /** The network of the caller; undefined for callers on this machine, whose streams are not counted by address. */
  readonly network: string | undefined;
};

/** One open answer with events. */
export class LiveStream {
  readonly follower: Follower;
  readonly kinds: ReadonlySet<Kind>;
  /** The body of the answer. */
  readonly output: Readable;
  /** True once the balance of its account has been told. */
  hasBalance = false;
  /** Frames that wait until the changes before them have been read; undefined when nothing is missing. */
  #held: string[] | undefined = [];

  constructor(follower: Follower, kinds: ReadonlySet<Kind>) {
    this.follower = follower;
    this.kinds = kinds;
    this.output = new Readable({ read: () => {} });
  }

  /** True while earlier changes are still being read for it. */
  get isCatchingUp(): boolean {
    return this.#held !== undefined;
  }

  wants(kind: Kind): boolean {
    return this.kinds.has(kind);
  }

  sees(kind: Kind, id: number): boolean {
    return this.kinds.has(kind) && maySee(this.follower.identity, kind, id);
  }

  /** Sends frames of changes; while earlier ones are missing, these wait for them. */
  send(frames: string): void {
    if (this.#held === undefined) this.#push(frames);
    else this.#held.push(frames);
  }

  /** Sends what came before the frames that wait, then those, and everything else at once from now on. */
  begin(frames: string): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#push([frames, ...held].join(""));
  }

  /** Ends the answer once its reader has read what was sent. */
  finish(): void {
    if (!this.output.destroyed) this.output.push(null);
  }

  /** Ends the answer with these frames; at once when its reader has not kept up. */
  end(frames: string): void {
    if (this.output.destroyed || this.output.readableEnded) return;
    if (this.output.readableLength > 0) {
      this.output.destroy();
      return;
    }
    this.output.push(frames);
    this.output.push(null);
  }

  #push(frames: string): void {
    if (this.output.destroyed || frames === "") return;
    if (this.output.readableLength + frames.length > UNREAD_BYTES_MAX) this.output.destroy();
    else this.output.push(frames);
  }
}
