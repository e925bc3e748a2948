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
  /** From now on. */
  readonly generation: number;
};

type Created = Pick<Instance, "id" | "userId" | "label">;
type Telling = Pick<Notification, "kind" | "subject" | "message"> & {
  /** Told to everybody whom it concerns, not only to those who asked for it. */
  readonly isUrgent?: boolean;
};

const LABEL_LENGTH_MAX = 200;

/** Tells owners what became of their instances; one statement for all that only some want to hear. */
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

/** Tells owners that their instances were made, if they want to hear of it. */
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

/** Tells owners that their contracts go on until later, if they want to hear of it. */
export async function tellExtended(tx: Tx, instances: readonly Created[], endAt: Date): Promise<void> {
  const until = `${endAt.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  await postWantedNotifications(
    tx,
    instances.map((instance) => ({
      userId: instance.userId,
      kind: "client:contract_extended",
      subject: `The contract of instance ${instance.id} was extended`,
      message: `${nameOf(instance)} can stay until ${until}.`,
      key: `client:contract_extended:${instance.id}:${endAt.getTime()}`,
    })),
  );
}

/** What the owner is told of a move; undefined where nobody needs to hear of it. */
export function tellingOf({ from, to, event, cause, generation }: Moved): Telling | undefined {
  const name = nameOf(from);
  if (event === "displaced" || event === "displacedAtOnce") {
    return {
      kind: "client:outbid",
      subject: `Instance ${from.id} was outbid`,
      message: `${name} has to leave its devices: ${reasonOf(cause)}. Its data is kept, and it runs again when its bid is high enough or devices come free. Raise its bid to be first in line.`,
      isUrgent: true,
    };
  }
  if (from.phase === "running" && to === "starting" && (event === "containerAbsent" || event === "containerStopped")) {
    return {
      kind: "client:instance_stopped",
      subject: `Instance ${from.id} was lost by its host`,
      message: `${name} was stopped by its host and starts again: look at what it was doing. What its last ten minutes cost is given back.`,
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
      message: `${name} is gone, and so is the data on its disk (${cause.replaceAll("_", " ")}).`,
    };
  }
  return undefined;
}

function reasonOf(cause: string): string {
  switch (cause) {
    case "outbid":
      return "somebody bids more";
    case "on_demand":
      return "somebody rents them on demand";
    case "bid_below_minimum":
      return "its bid is below what the host asks for now";
    default:
      return cause.replaceAll("_", " ");
  }
}

function nameOf({ id, label }: Pick<Instance, "id" | "label">): string {
  const shown = label?.slice(0, LABEL_LENGTH_MAX).toWellFormed();
  return shown === undefined || shown === "" ? `Instance ${id}` : `Instance ${id} (${shown})`;
}
