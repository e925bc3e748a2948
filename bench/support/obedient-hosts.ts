import { once } from "node:events";
import { sql } from "kysely";
import { WebSocket } from "ws";
import {
  decodeServerMessage,
  PROTOCOL_VERSION,
  type Desired,
  type Hello,
  type ObservedInstance,
  type Report,
  type ServerMessage,
} from "../../protocol/index.ts";
import { systemClock } from "../../server/src/base/clock.ts";
import { asId, type MachineId, type UserId } from "../../server/src/base/ids.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { issueAgentToken } from "../../server/src/domains/supply/hosts/for-assembly.ts";
import { refreshOffers } from "../../server/src/domains/supply/market/index.ts";
import { simulatedFacts } from "../../test/support/hosts/simulated-facts.ts";
import type { BenchServer } from "./berth-server.ts";

export type ObedientHosts = {
  readonly machineIds: readonly MachineId[];
  /** How many reports they have sent. */
  reportCount(): number;
  /** Closes their connections and waits until that is done. */
  stop(): Promise<void>;
};

/** Hosts connected per step: so many at once are no problem, all at once would only measure the queue. */
const CONNECTING_AT_ONCE = 32;
const POLL_MS = 20;
const LEAVE_MS = 5_000;
/** Room for all rentals of a benchmark. */
const DISK_BYTES = 4e12;
/** Terms of all machines, alike so that each can be rented in the same way: $0.10 a GPU at least, $0.40 on demand. */
const LISTING = `min_chunk = 1, price_min_bid_nanos_per_hour = 100000000, price_device_nanos_per_hour = 400000000,
  is_listed = true`;

/** Agents that carry out every order at once, over the real protocol: a server cannot tell them from quick ones. */
export async function startObedientHosts(
  server: BenchServer,
  { count, gpus }: { readonly count: number; readonly gpus: number },
): Promise<ObedientHosts> {
  const token = await issueToken(server);
  const hosts: ReturnType<typeof obedientHost>[] = [];
  for (let start = 0; start < count; start += CONNECTING_AT_ONCE) {
    const some = Array.from({ length: Math.min(CONNECTING_AT_ONCE, count - start) }, (_, index) =>
      obedientHost(server, token, helloOf(start + index, gpus)),
    );
    hosts.push(...some);
    await Promise.all(some.map((host) => host.ready));
  }
  const machineIds = hosts.map((host) => asId<MachineId>(host.machineId()));
  await withTransaction(server.database, systemClock, async (tx) => {
    await sql.raw(`update machines set ${LISTING}`).execute(tx.db);
    await refreshOffers(tx, machineIds);
  });
  return {
    machineIds,
    reportCount: () => hosts.reduce((sum, host) => sum + host.reportCount(), 0),
    async stop() {
      await Promise.all(hosts.map((host) => host.stop()));
      await waitUntilGone(server);
    },
  };
}

/** The server notes each leave in the database, which should be there until then. */
async function waitUntilGone({ database }: BenchServer): Promise<void> {
  const untilMs = performance.now() + LEAVE_MS;
  while (performance.now() < untilMs) {
    const { rows } = await database.pool.query("select 1 from machines where is_connected limit 1");
    if (rows.length === 0) return;
    await systemClock.sleep(POLL_MS);
  }
}

async function issueToken({ database }: BenchServer): Promise<string> {
  const { rows } = await database.pool.query<{ id: UserId }>("select id from users where is_admin order by id limit 1");
  const [admin] = rows;
  if (admin === undefined) throw new Error("there is no administrator to own the machines");
  return withTransaction(database, systemClock, (tx) =>
    issueAgentToken(tx, { userId: admin.id, name: "obedient", isTrusted: true }),
  );
}

function obedientHost({ port }: BenchServer, token: string, hello: Hello) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/agent`, { headers: { authorization: `Bearer ${token}` } });
  const startedMs = new Map<string, number>();
  let [machineId, sequence] = [0, 0];
  let desired: Desired | undefined;
  let [becomeReady, fail] = [() => {}, (_error: Error) => {}];
  const ready = new Promise<void>((resolve, reject) => ([becomeReady, fail] = [resolve, reject]));

  const report = () => {
    if (desired === undefined) return;
    sequence += 1;
    const nowMs = systemClock.monotonicMs();
    const instances = desired.instances.map((order) => observe(order, startedMs, nowMs));
    const message: Report = {
      kind: "report",
      sequence,
      desired_version: desired.version,
      instances,
      volumes: [],
      gpus: [],
    };
    socket.send(JSON.stringify(message));
  };
  let stopReporting = () => {};
  const listen = (message: ServerMessage) => {
    if (message.kind === "welcome") {
      machineId = message.machine_id;
      stopReporting = systemClock.every(message.heartbeat_ms, report);
    }
    if (message.kind === "refuse") fail(new Error(`a host was refused: ${message.code}`));
    if (message.kind !== "desired") return;
    desired = message;
    report();
    becomeReady();
  };
  socket.on("message", (data) => {
    const decoded = decodeServerMessage(String(data));
    if (decoded.ok) listen(decoded.message);
  });
  socket.on("error", (error) => fail(error));
  void once(socket, "open").then(() => socket.send(JSON.stringify(hello)), fail);
  const closed = once(socket, "close");
  return {
    ready,
    machineId: () => machineId,
    reportCount: () => sequence,
    async stop() {
      stopReporting();
      socket.close(1000);
      await closed;
    },
  };
}

/** The report on an instance from a host that has carried out its order at once. One under notice has nothing to save. */
function observe(
  { instance_id, generation, run, notice }: Desired["instances"][number],
  startedMs: Map<string, number>,
  nowMs: number,
): ObservedInstance {
  const key = `${instance_id} ${generation}`;
  const isUp = run === "running" && notice === undefined;
  if (isUp && !startedMs.has(key)) startedMs.set(key, nowMs);
  const runningMs = Math.round(nowMs - (startedMs.get(key) ?? nowMs));
  return {
    instance_id,
    generation,
    state: isUp ? "running" : run === "absent" ? "absent" : "stopped",
    status_msg: "",
    ports: {},
    exit_code: null,
    ssh_host_key: null,
    usage: null,
    counters: { running_ms: runningMs, received_bytes: 0, sent_bytes: 0 },
  };
}

function helloOf(number: number, gpuCount: number): Hello {
  const hostKey = `obedient-${number}`;
  const { machine, gpus } = simulatedFacts(hostKey, number, gpuCount);
  return {
    kind: "hello",
    protocol_version: PROTOCOL_VERSION,
    agent_version: "bench",
    host_key: hostKey,
    boot_id: "bench",
    fingerprint: "fingerprint",
    session_proof: "",
    engine: { kind: "simulated", version: "1" },
    machine: { ...machine, disk_bytes: DISK_BYTES },
    gpus,
  };
}
