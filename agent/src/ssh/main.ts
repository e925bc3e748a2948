// The SSH process. It holds the doors alone, so that a hostile client cannot reach the agent.
import { flushCompileCache } from "node:module";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { connectDockerExec } from "./docker-exec.ts";
import { Door, type DoorsPlace } from "./door.ts";
import type { AgentMessage, DoorOrder, SshMessage } from "./messages.ts";
import { trustServers } from "../link/server-trust.ts";
import { openTunnel } from "./tunnel.ts";

/** Time to tell sessions and to hang up programs. */
const CLOSE_MS = 1_500;

function say(level: SshMessage["level"], fields: object, message: string): void {
  // The agent may be gone; then so is this process, by the event below.
  process.send?.({ kind: "log", level, fields, message } satisfies SshMessage, undefined, {}, () => undefined);
}

const log: Log = {
  info: (fields, message) => say("info", fields, message),
  warn: (fields, message) => say("warn", fields, message),
  debug: (fields, message) => say("debug", fields, message),
};
const doors = new Map<number, Door>();
let place: DoorsPlace | undefined;
let isTrustSet = false;

function setDoors(orders: readonly DoorOrder[]): void {
  if (place === undefined) return;
  const wanted = new Map(orders.map((order) => [order.instanceId, order]));
  for (const [instanceId, door] of doors) {
    const order = wanted.get(instanceId);
    if (order !== undefined && door.isFor(order)) continue;
    doors.delete(instanceId);
    door.close(order === undefined ? "the instance was stopped" : "the instance was restarted");
  }
  for (const order of orders) {
    const door = doors.get(order.instanceId);
    if (door === undefined) doors.set(order.instanceId, new Door(place, order));
    else door.update(order);
  }
}

type TunnelOrder = Extract<AgentMessage, { readonly kind: "tunnel" }>;

async function connectTunnel({ instanceId, url, token, sessionKey }: TunnelOrder): Promise<void> {
  if (!doors.has(instanceId))
    return log.warn({ instance_id: instanceId }, "a tunnel was asked for to an instance without an SSH door");
  try {
    const distrust = trustOnce();
    if (distrust !== undefined) throw new Error(distrust);
    const stream = await openTunnel(url, token);
    const door = doors.get(instanceId);
    if (door === undefined) stream.destroy();
    else door.admitTunnel(stream, sessionKey);
  } catch (cause) {
    log.warn({ instance_id: instanceId, problem: String(cause) }, "a tunnel could not be opened");
  }
}

/** Reads the roots that servers may have. Most hosts are reached directly, so this waits for the first tunnel. */
function trustOnce(): string | undefined {
  if (isTrustSet) return undefined;
  const problem = trustServers(process.env["BERTH_AGENT_CA_FILE"] || undefined, process.env);
  isTrustSet = problem === undefined;
  return problem;
}

function receive(message: AgentMessage): void {
  switch (message.kind) {
    case "begin": {
      const docker = connectDockerExec(message.dockerSocket);
      place = { docker, clock: systemClock, log, random: Math.random, bindAddress: message.bindAddress };
      return;
    }
    case "doors":
      return setDoors(message.doors);
    case "tunnel":
      void connectTunnel(message);
  }
}

let isStopping = false;
function stop(): void {
  if (isStopping) return;
  isStopping = true;
  for (const door of doors.values()) door.close("the host's agent was stopped");
  void systemClock.sleep(doors.size > 0 ? CLOSE_MS : 0).then(() => process.exit(0));
}

// The compile cache is written now, since a process that is killed would not write it.
flushCompileCache();
process.on("message", receive);
// A failure that one renter's client caused must not end the sessions of all the others; each connection has a state
// of its own, so that no common state is left half done.
process.on("uncaughtException", (cause) => log.warn({ problem: cause.stack ?? cause.message }, "unexpected failure"));
process.on("disconnect", stop);
process.on("SIGTERM", stop);
// A terminal's Ctrl-C reaches the whole group; when to end is the agent's decision.
process.on("SIGINT", () => undefined);
