import type { Clock } from "../base/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { Log } from "../base/log.ts";

/** A renter who comes back within the hour finds the image still here, however full the disk is. */
const KEPT_FOR_MS = 3_600_000;

export type ImageCacheInput = {
  readonly clock: Clock;
  readonly engine: Pick<Engine, "removeImage">;
  readonly log: Log;
  /** Image → epoch milliseconds of its last use, from the notes of an earlier process. */
  readonly noted: Readonly<Record<string, number>> | undefined;
  /** True while the host is running out of room for images. */
  readonly isDiskLow: () => Promise<boolean>;
};

/**
 * The images that orders brought to this host. They stay, since the next renter often wants the same; when room gets
 * short those go that nobody has used for the longest time. Images of the host's operator are never touched.
 */
export class ImageCache {
  readonly #input: ImageCacheInput;
  readonly #usedAtMs: Map<string, number>;
  #isSweeping = false;

  constructor(input: ImageCacheInput) {
    this.#input = input;
    this.#usedAtMs = new Map(Object.entries(input.noted ?? {}));
  }

  /** The image was pulled for an order. */
  note(image: string): void {
    this.#usedAtMs.set(image, this.#input.clock.now().getTime());
  }

  /** True for an image that this agent pulled for an order. */
  has(image: string): boolean {
    return this.#usedAtMs.has(image);
  }

  /** Notes the use of an image by an order; an image that was never pulled here is not the agent's and is not noted. */
  touch(image: string): void {
    if (this.#usedAtMs.has(image)) this.note(image);
  }

  /** Removes one image if room is short, the longest unused one that no order names. Called again and again. */
  async sweep(wanted: ReadonlySet<string>): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      for (const image of wanted) this.touch(image);
      const [oldest] = [...this.#usedAtMs].toSorted(([, a], [, b]) => a - b);
      if (oldest === undefined || this.#input.clock.now().getTime() - oldest[1] < KEPT_FOR_MS) return;
      if (!(await this.#input.isDiskLow())) return;
      const [image] = oldest;
      const removed = await this.#input.engine.removeImage(image);
      this.#input.log.info({ image, is_removed: removed.ok }, "the disk is nearly full: an unused image is removed");
      // A container that is about to go may still be on the image: a later sweep tries it again.
      if (removed.ok) this.#usedAtMs.delete(image);
      else this.note(image);
    } finally {
      this.#isSweeping = false;
    }
  }

  notes(): Record<string, number> {
    return Object.fromEntries(this.#usedAtMs);
  }
}
