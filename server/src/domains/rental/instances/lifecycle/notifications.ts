import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications, postWantedNotifications, type Notification } from "../../../notifications/index.ts";
import type { Instance } from "../instance.ts";
import type { LifecycleEvent, Phase } from "./rules/lifecycle.ts";

/** An instance on its way into another phase. */
export type Moved = {
  readonly from: Pick<Instance, "id" | "userId" | "label" | "isBackground" | "phase">;
  readonly to: Phase;
  readonly event: LifecycleEvent;
  readonly cause: string;
  /** The generation after the change. */
  readonly generation: number;
};

type Created = Pick<Instance, "id" | "userId" | "label">;
type Telling = Pick<Notification, "kind" | "subject" | "message"> & {
  /** True for notifications that go to everybody concerned, not only to those who subscribed. */
  readonly isUrgent?: boolean;
};

const LABEL_LENGTH_MAX = 200;

/** Notifies owners of changes of their instances; the optional notifications go out in one statement. */
export async function tellMoves(tx: Tx, moves: readonly Moved[]): Promise<void> {
  const told = moves.flatMap((move) => {
    const telling = move.from.isBackground ? undefined : tellingOf(move);
    if (telling === undefined) return [];
    const { isUrgent = false, ...text } = telling;
    const key = `${text.kind}:${move.from.id}:${move.generation}`;
    return [{ isUrgent, notification: { ...text, userId: move.from.userId, key } }];
  });
  const notificationsOf = (isUrgent: boolean) =>
    told.filter((one) => one.isUrgent === isUrgent).map(({ notification }): Notification => notification);
  await postNotifications(tx, notificationsOf(true));
  await postWantedNotifications(tx, notificationsOf(false));
}

/** Notifies owners who subscribed that their instances were created. */
export async function tellCreated(tx: Tx, instances: readonly Created[]): Promise<void> {
  await postWantedNotifications(
    tx,
    instances.map((instance) => ({
      userId: instance.userId,
      kind: "client:instance_created",
      subject: `Instance ${instance.id} was created`,
      message: `${nameOf(instance)} was created.`,
      key: `client:instance_created:${instance.id}`,
    })),
  );
}

/** Notifies owners who subscribed that their rentals were extended. */
export async function tellExtended(tx: Tx, instances: readonly Created[], endAt: Date): Promise<void> {
  const until = `${endAt.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  await postWantedNotifications(
    tx,
    instances.map((instance) => ({
      userId: instance.userId,
      kind: "client:contract_extended",
      subject: `The rental of instance ${instance.id} was extended`,
      message: `${nameOf(instance)} can stay until ${until}.`,
      key: `client:contract_extended:${instance.id}:${endAt.getTime()}`,
    })),
  );
}

/** The notification on a change of phase; undefined when there is none. */
export function tellingOf({ from, to, event, cause, generation }: Moved): Telling | undefined {
  const name = nameOf(from);
  if (event === "displaced" || event === "displacedAtOnce") {
    return {
      kind: "client:outbid",
      subject: `Instance ${from.id} was outbid`,
      message: `${name} has to leave its devices: ${reasonOf(cause)}. Its data is kept, and it runs again when its bid is high enough or devices come free. Raise its bid to resume first.`,
      isUrgent: true,
    };
  }
  if (from.phase === "running" && to === "starting" && (event === "containerAbsent" || event === "containerStopped")) {
    return {
      kind: "client:instance_stopped",
      subject: `Instance ${from.id} was lost by its host`,
      message: `${name} was stopped by its host and starts again: check what it was doing. The cost of its last ten minutes is refunded.`,
      isUrgent: true,
    };
  }
  if (to === "running" && from.phase === "starting") {
    const message = `${name} is running.`;
    return generation <= 1
      ? { kind: "client:instance_started", subject: `Instance ${from.id} started`, message }
      : { kind: "client:instance_resumed", subject: `Instance ${from.id} resumed`, message };
  }
  if (to === "stopped" || (to === "scheduled" && from.phase !== "stopped")) {
    const rest = to === "stopped" ? "stopped" : "stopped, and waits for devices";
    return {
      kind: "client:instance_stopped",
      subject: `Instance ${from.id} stopped`,
      message: `${name} ${rest} (${cause.replaceAll("_", " ")}). Its data is kept.`,
    };
  }
  if (to === "ended") {
    return {
      kind: "client:instance_deleted",
      subject: `Instance ${from.id} was deleted`,
      message: `${name} was deleted with the data on its disk (${cause.replaceAll("_", " ")}).`,
    };
  }
  return undefined;
}

function reasonOf(cause: string): string {
  switch (cause) {
    case "outbid":
      return "a higher bid takes them";
    case "on_demand":
      return "an on-demand rental takes them";
    case "bid_below_minimum":
      return "its bid is below the host's minimum now";
    default:
      return cause.replaceAll("_", " ");
  }
}

function nameOf({ id, label }: Pick<Instance, "id" | "label">): string {
  const shown = label?.slice(0, LABEL_LENGTH_MAX).toWellFormed();
  return shown === undefined || shown === "" ? `Instance ${id}` : `Instance ${id} (${shown})`;
}
