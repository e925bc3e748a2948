import { createHash } from "node:crypto";
import type { Container } from "../engine/engine.ts";

/**
 * Labels and names are the whole truth about which container is which: an agent that starts with nothing rebuilds
 * everything from them. Labels cannot change after creation, so the generation, which does, is in the name.
 */
export const LABEL_HOST = "berth.host_key";
export const LABEL_INSTANCE = "berth.instance_id";
/** The generation at creation, used when somebody has renamed the container by hand. */
export const LABEL_GENERATION = "berth.generation";
/** GPUs the container was made with, separated by commas: for people who list containers. */
export const LABEL_GPUS = "berth.gpu_uuids";
/** Digest of everything that is fixed at creation (`recipe.ts`). */
export const LABEL_RECIPE = "berth.recipe";
/** The order's revision: a container of an older one goes, and its disk with it. */
export const LABEL_REVISION = "berth.revision";
/** The exact image below the instance's disk: what was written on one image fits no other. */
export const LABEL_IMAGE = "berth.image_id";
/** External port of the platform's SSH server, which the agent itself serves. */
export const LABEL_SSH_PORT = "berth.ssh_port";
/** The signal at which the platform script tells the renter's own processes to end. A script of old dies of it. */
export const LABEL_NOTICE_SIGNAL = "berth.notice_signal";

const NAME = /^berth-(\d{1,15})-g(\d{1,15})(?:\.of-[0-9a-f]{8})?(?:\.after-(\d{1,15}))?$/;

/** The name of a container whose present generation has begun, or which was made for it. */
export function settledName(instanceId: number, generation: number): string {
  return `berth-${instanceId}-g${generation}`;
}

/**
 * The name of a container meant to start in a generation in which it has not run yet. It carries the time of the last
 * start, so that after a crash between renaming and starting one sees whether the start took place.
 */
export function pendingName(instanceId: number, generation: number, lastStartedAtMs: number): string {
  return `${settledName(instanceId, generation)}.after-${lastStartedAtMs}`;
}

/**
 * The same name with a mark of its host, for when another control plane has an instance of the same number on this very
 * engine and its container has the plain name.
 */
export function markedName(name: string, hostKey: string): string {
  const mark = createHash("sha256").update(hostKey).digest("hex").slice(0, 8);
  return name.replace(/^(berth-\d+-g\d+)(?:\.of-[0-9a-f]{8})?/, `$1.of-${mark}`);
}

/** One of this agent's containers, read through its labels and name. */
export type OwnContainer = {
  readonly container: Container;
  readonly instanceId: number;
  readonly generation: number;
  readonly revision: number;
  readonly recipe: string;
  readonly imageId: string;
  readonly sshPort: number | null;
  /** True once a process of this generation was started. */
  readonly hasBegun: boolean;
  /** The name still says that the start is to come although it took place. */
  readonly isUnsettled: boolean;
};

/** Reads the instance from a container's labels and name; undefined when they name none. */
export function readIdentity(container: Container): OwnContainer | undefined {
  const instanceId = Number(container.labels[LABEL_INSTANCE]);
  if (!Number.isSafeInteger(instanceId) || instanceId < 1) return undefined;
  const match = NAME.exec(container.name);
  const isNamed = match !== null && Number(match[1]) === instanceId;
  const labelled = Number(container.labels[LABEL_GENERATION]);
  const generation = isNamed ? Number(match[2]) : Number.isSafeInteger(labelled) ? labelled : 0;
  const pendingAfterMs = isNamed && match[3] !== undefined ? Number(match[3]) : undefined;
  const hasBegun =
    container.phase === "running" || (container.startedAtMs !== null && container.startedAtMs !== pendingAfterMs);
  return {
    container,
    instanceId,
    generation,
    revision: Number(container.labels[LABEL_REVISION] ?? 0) || 0,
    recipe: container.labels[LABEL_RECIPE] ?? "",
    imageId: container.labels[LABEL_IMAGE] ?? "",
    sshPort: Number(container.labels[LABEL_SSH_PORT] ?? 0) || null,
    hasBegun,
    isUnsettled: hasBegun && pendingAfterMs !== undefined,
  };
}
