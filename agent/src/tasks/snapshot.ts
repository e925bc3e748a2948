import type { TaskAction } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import { fail, succeed, type Engine, type PullProgress, type Result } from "../engine/engine.ts";
import type { RefuseRegistry } from "../images/registries.ts";
import { describePush } from "../images/pull-progress.ts";

export type SnapshotContext = {
  readonly clock: Clock;
  readonly engine: Engine;
  /** From now on an instance of another renter gets this image only from its registry, although it is on this host. */
  guardImage(imageId: string): void;
  readonly refuseRegistry: RefuseRegistry;
};

type SnapshotAction = Extract<TaskAction, { type: "snapshot" }>;

/**
 * Makes an image of a container and sends it to the renter's registry. The image gets a name of its own first, and the
 * renter's only once it is guarded: that name may well be one that others use, and they are not to get these files.
 */
export async function takeSnapshot(
  context: SnapshotContext,
  action: SnapshotAction,
  input: {
    readonly containerId: string;
    readonly taskId: string;
    readonly signal: AbortSignal;
    readonly show: (text: string) => void;
  },
): Promise<Result<string>> {
  const { clock, engine } = context;
  const own = ownName(action, input.taskId);
  const image = nameOf(action);
  const problem = await context.refuseRegistry(image);
  if (problem !== undefined) return fail("refused", `${image} cannot be pushed: ${problem}`);
  input.show(`making an image of the instance's files`);
  const committed = await engine.commit(input.containerId, { ...own, isPaused: action.isPaused });
  if (!committed.ok) return committed;
  context.guardImage(committed.value);
  const before = await engine.findImage(image);
  const beforeId = before.ok ? before.value?.id : undefined;
  try {
    const tagged = await engine.tagImage(committed.value, image);
    if (!tagged.ok) return tagged;
    const startedMs = clock.monotonicMs();
    const onProgress = (progress: PullProgress) =>
      input.show(describePush(image, progress, clock.monotonicMs() - startedMs));
    const pushed = await engine.push({ image, auth: action.registryAuth, signal: input.signal, onProgress });
    if (!pushed.ok) return pushed;
    return succeed(engine.kind === "simulated" ? `simulated: nothing went to ${image}` : `${image} is in the registry`);
  } finally {
    if (beforeId === undefined) await engine.removeImage(image);
    else await engine.tagImage(beforeId, image);
    await engine.removeImage(nameOf(own));
  }
}

/** Removes the remains of an agent that was killed over the same task; the names are this task's alone. */
export async function forgetInterrupted(
  { engine }: Pick<SnapshotContext, "engine">,
  action: SnapshotAction,
  taskId: string,
): Promise<void> {
  const own = nameOf(ownName(action, taskId));
  const [left, named] = [await engine.findImage(own), await engine.findImage(nameOf(action))];
  if (!left.ok || left.value === undefined) return;
  if (named.ok && named.value?.id === left.value.id) await engine.removeImage(nameOf(action));
  await engine.removeImage(own);
}

type Name = { readonly repository: string; readonly tag: string };

/** Task ids are the server's and need not be good tags. */
function ownName({ instanceId }: SnapshotAction, taskId: string): Name {
  const tag = `task-${Buffer.from(taskId).toString("hex").slice(0, 100)}`;
  return { repository: `berth-snapshot/${instanceId}`, tag };
}

function nameOf({ repository, tag }: Name): string {
  return `${repository}:${tag}`;
}
