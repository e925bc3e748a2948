import type { DesiredInstance, ObservedInstance } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import {
  fail,
  succeed,
  type Engine,
  type EngineFailure,
  type Failed,
  type ImageFacts,
  type PullProgress,
  type Result,
} from "../engine/engine.ts";
import { faultOfPull } from "../engine/fault.ts";
import type { ImageCache } from "./image-cache.ts";
import { isFromRegistry, isListed } from "./local-images.ts";
import { describePull, measurePull } from "./pull-progress.ts";
import type { RefuseRegistry } from "./registries.ts";

export type ImageContext = {
  readonly clock: Clock;
  readonly engine: Engine;
  /** Ids of images that came with somebody's credentials: for everybody else they are not on this host. */
  readonly guardedImages: Set<string>;
  readonly imageCache: Pick<ImageCache, "note" | "has">;
  /** Images of the host's owner that renters may use. */
  readonly localImages: readonly string[];
  readonly refuseRegistry: RefuseRegistry;
  readonly isDiskLow: () => Promise<boolean>;
};

/** Pulls the order's image if it has to, and returns its facts. `show` gets the progress, for a person and in bytes. */
export async function provideImage(
  context: ImageContext,
  order: DesiredInstance,
  show: (text: string, pull?: ObservedInstance["pull"]) => void,
  signal: AbortSignal,
): Promise<Result<ImageFacts>> {
  const { engine, clock, guardedImages } = context;
  const cached = await engine.findImage(order.image);
  if (!cached.ok) {
    const { kind, message } = cached.failure;
    return fail(kind, message, await faultOfPull(cached.failure, context.isDiskLow));
  }
  const isLent = isListed(order.image, context.localImages);
  const isGuarded = cached.value !== undefined && guardedImages.has(cached.value.id);
  // The image is the host's owner's: a pull would take its name away.
  if (cached.value && !isGuarded && !isLent && !isFromRegistry(order.image, cached.value)) return ownersImage(order);
  // Only a registry can say whether an image that the owner pulled, perhaps with a login, is for everybody.
  const isKnown = isLent || cached.value?.repositories === null || context.imageCache.has(order.image);
  // With credentials the registry is always asked: a private image in the cache is not for everybody.
  const isOpen = cached.value !== undefined && order.registryAuth === null && !isGuarded && isKnown;
  const isFresh = order.revision === 0;
  if (isOpen && isFresh && cached.value) return succeed(cached.value);
  const problem = await context.refuseRegistry(order.image);
  if (problem !== undefined) {
    if (isOpen && cached.value) return succeed(cached.value);
    return fail("refused", `the image ${order.image} cannot be pulled: ${problem}`, "image");
  }
  const startedMs = clock.monotonicMs();
  const onProgress = (progress: PullProgress) => {
    const elapsedMs = clock.monotonicMs() - startedMs;
    show(describePull(order.image, progress, elapsedMs), measurePull(progress, elapsedMs));
  };
  onProgress({ receivedBytes: 0, totalBytes: 0 });
  const pulled = await engine.pull({ image: order.image, auth: order.registryAuth, signal, onProgress });
  if (!pulled.ok) {
    // A newer revision wants the registry's newest; an image that only this host has is the newest there is.
    if (isOpen && cached.value && pulled.failure.kind !== "cancelled") return succeed(cached.value);
    const { kind, message } = explainPull(order, pulled.failure);
    return fail(kind, message, await faultOfPull(pulled.failure, context.isDiskLow));
  }
  context.imageCache.note(order.image);
  const found = await engine.findImage(order.image);
  if (!found.ok) return found;
  if (found.value === undefined) return fail("not_found", `${order.image} was pulled but is not on this host`);
  if (order.registryAuth === null) guardedImages.delete(found.value.id);
  else if (cached.value?.id !== found.value.id || guardedImages.has(found.value.id)) {
    guardedImages.add(found.value.id);
  }
  return succeed(found.value);
}

function ownersImage({ image }: DesiredInstance): Failed {
  const reason = `${image} names an image of this host's owner, who does not rent it out`;
  return fail("refused", `${reason}: take an image from a registry, under another name`, "image");
}

/** A failure with the next step in one sentence, and the registry's own words behind it. */
function explainPull(order: DesiredInstance, failure: EngineFailure): EngineFailure {
  const { kind, message } = failure;
  if (kind === "denied" || kind === "not_found") {
    const advice =
      order.registryAuth === null
        ? "check its name and tag, and pass image_login if it is private"
        : "check its name and tag, and the user and password of image_login";
    return { kind, message: `the image ${order.image} cannot be pulled: ${advice} (${message})` };
  }
  if (kind === "refused") return { kind, message: `the image ${order.image} cannot be pulled: ${message}` };
  return failure;
}
