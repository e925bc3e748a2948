import type { Clock } from "../base/clock.ts";
import { fail, succeed, type ImageFacts, type PullRequest, type Result } from "../engine/engine.ts";
import { parseImageReference } from "../images/image-reference.ts";

const STEPS = 5;
const STEP_MS = 60;
const BYTES_PER_MB = 1e6;
const IMAGE_LIMIT = 256;

/** The images of a simulated engine: names without content, which take a moment to come and go. */
export class SimulatedImages {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #ids = new Map<string, string>();
  /** Ids of all images, also of those without a name. */
  readonly #known = new Set<string>();
  #lastId = 0;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  find(image: string): ImageFacts | undefined {
    const id = this.#ids.get(canonical(image));
    return id === undefined ? undefined : { id, repositories: null, volumes: [], exposedPorts: [] };
  }

  add(image: string): string {
    if (this.#known.size >= IMAGE_LIMIT) {
      this.#ids.clear();
      this.#known.clear();
    }
    this.#lastId += 1;
    const id = `simulated-image-${this.#lastId}`;
    this.#known.add(id);
    this.#ids.set(canonical(image), id);
    return id;
  }

  /** The image by its id or a name; false when there is none. */
  tag(image: string, name: string): boolean {
    const id = this.#known.has(image) ? image : this.find(image)?.id;
    if (id !== undefined) this.#ids.set(canonical(name), id);
    return id !== undefined;
  }

  remove(image: string): void {
    this.#ids.delete(canonical(image));
  }

  async pull(request: PullRequest): Promise<Result<void>> {
    const refused = await this.#ask(request, "pull");
    if (refused) return refused;
    if (this.find(request.image)) return succeed(undefined);
    const moved = await this.#move(request, "pull");
    if (moved.ok) this.add(request.image);
    return moved;
  }

  async push(request: PullRequest): Promise<Result<void>> {
    if (!this.find(request.image)) return fail("not_found", `An image does not exist locally: ${request.image}`);
    const refused = await this.#ask(request, "push");
    return refused ?? this.#move(request, "push");
  }

  async #ask(request: PullRequest, what: string): Promise<Result<never> | undefined> {
    const { repository, tag } = parseImageReference(request.image);
    await this.#clock.sleep(STEP_MS, request.signal);
    if (request.signal.aborted) return fail("cancelled", `the ${what} was called off`);
    const name = repository.slice(repository.lastIndexOf("/") + 1);
    if (name === "does-not-exist" || tag === "missing") {
      return fail("not_found", `manifest for ${repository}:${tag} not found: manifest unknown: manifest unknown`);
    }
    if (name === "private" && request.auth === null) {
      const problem = "repository does not exist or may require 'docker login'";
      return fail("denied", `${what} access denied for ${repository}, ${problem}`);
    }
    return undefined;
  }

  async #move(request: PullRequest, what: string): Promise<Result<void>> {
    const totalBytes = Math.round((20 + this.#random() * 400) * BYTES_PER_MB);
    for (let step = 1; step <= STEPS; step += 1) {
      await this.#clock.sleep(STEP_MS, request.signal);
      if (request.signal.aborted) return fail("cancelled", `the ${what} was called off`);
      request.onProgress({ receivedBytes: Math.round((totalBytes * step) / STEPS), totalBytes });
    }
    return succeed(undefined);
  }
}

function canonical(image: string): string {
  const { repository, tag } = parseImageReference(image);
  return `${repository}:${tag}`;
}
