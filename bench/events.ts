// Cost and lateness of live events: many listeners of several accounts on one server, and changes of all accounts. The
// control makes the same changes while nobody listens. The figures count only when each listener saw each change of its
// account exactly once, and none of another account.
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readNumbers } from "./support/arguments.ts";
import { startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { quantile, rounded, table } from "./support/figures.ts";
import { memoryOf, processorMs } from "./support/processes.ts";
import { type BenchUser, seedUsers } from "./support/seed.ts";

const DEFAULTS = { listeners: 1_000, accounts: 100, changes: 400, pauseMs: 50 };
type Options = Readonly<typeof DEFAULTS>;

/** A server takes at most 200 streams of one address. */
const LISTENERS_PER_ADDRESS = 200;
const OPENED_AT_ONCE = 25;
/** How long the last changes may take to arrive before the audit fails. */
const ARRIVAL_MS = 60_000;

export type EventFigures = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly deliveries: number;
  /** Processor time of the server for each second of changes, with listeners and without. */
  readonly serverMsPerSecond: number;
  readonly controlMsPerSecond: number;
  readonly bytesPerListener: number;
};

type Listener = {
  readonly user: BenchUser;
  /** Notifications in the order in which they came, with the time on this process's clock. */
  readonly seen: { readonly id: number; readonly atMs: number }[];
  readonly response: IncomingMessage;
};
type Change = { readonly id: number; readonly userId: number; readonly committedMs: number };
type Spent = { readonly changes: readonly Change[]; readonly serverMsPerSecond: number };

export async function run(args: readonly string[]): Promise<void> {
  await measureEvents(readNumbers(args, DEFAULTS));
}

/** Runs the benchmark and returns its figures; throws when a listener missed, repeated or overheard a change. */
export async function measureEvents(options: Options): Promise<EventFigures> {
  const server = await startBenchServer();
  const listeners: Listener[] = [];
  try {
    console.log(describeEnvironment(server.dataDir));
    const users = await seedUsers(server.database, { count: options.accounts, creditDollars: 1 });
    const control = await makeChanges(server, users, { ...options, name: "control" });
    const before = memoryOf(server.processId).residentBytes;
    await openAll(server, { users, options, listeners });
    const bytes = memoryOf(server.processId).residentBytes - before;
    const spent = await makeChanges(server, users, { ...options, name: "told" });
    const expected = countDeliveries(listeners, spent.changes);
    await waitForAll(listeners, expected);
    audit(listeners, spent.changes);
    return report(options, { control, spent, listeners, bytesPerListener: bytes / options.listeners });
  } finally {
    for (const { response } of listeners) response.destroy();
    await server.stop();
  }
}

/** Writes notifications, an account after another; each is a transaction of its own. */
async function makeChanges(
  server: BenchServer,
  users: readonly BenchUser[],
  { name, changes, pauseMs }: Options & { readonly name: string },
): Promise<Spent> {
  const made: Change[] = [];
  const begunMs = performance.now();
  const usedMs = processorMs(server.processId);
  for (let index = 0; index < changes; index += 1) {
    const userId = users[index % users.length]!.id;
    const { rows } = await server.database.pool.query<{ readonly id: string }>(
      `insert into notices (user_id, kind, subject, message, key, created_at)
       values ($1, 'client:bench', 'a change', 'a change', $2, now()) returning id`,
      [userId, `${name}-${index}`],
    );
    made.push({ id: Number(rows[0]!.id), userId, committedMs: performance.now() });
    await sleep(pauseMs);
  }
  const seconds = (performance.now() - begunMs) / 1000;
  return { changes: made, serverMsPerSecond: (processorMs(server.processId) - usedMs) / seconds };
}

async function openAll(
  server: BenchServer,
  {
    users,
    options,
    listeners,
  }: { readonly users: readonly BenchUser[]; readonly options: Options; readonly listeners: Listener[] },
): Promise<void> {
  for (let start = 0; start < options.listeners; start += OPENED_AT_ONCE) {
    const count = Math.min(OPENED_AT_ONCE, options.listeners - start);
    const some = Array.from({ length: count }, (_, index) => start + index);
    listeners.push(...(await Promise.all(some.map((at) => open(server, users[at % users.length]!, at)))));
  }
}

/** Opens a stream, and returns when the server says that it is ready. */
function open(server: BenchServer, user: BenchUser, at: number): Promise<Listener> {
  const seen: Listener["seen"] = [];
  return new Promise((resolve, reject) => {
    const localAddress = `127.0.0.${2 + Math.floor(at / LISTENERS_PER_ADDRESS)}`;
    const request = get(
      `${server.url}/api/v0/events/?kinds=notification`,
      { agent: new Agent(), localAddress, headers: { authorization: `Bearer ${user.secret}` } },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`a stream answered ${response.statusCode}`));
        let rest = "";
        response.setEncoding("utf8");
        response.on("error", () => {}); // The end of the benchmark cuts it off.
        response.on("data", (chunk: string) => {
          const frames = `${rest}${chunk}`.split("\n\n");
          rest = frames.pop() ?? "";
          for (const frame of frames) {
            if (/^event: ready$/m.test(frame)) resolve({ user, seen, response });
            const data = /^event: notification$[^]*?^data: (.*)$/m.exec(frame)?.[1];
            if (data !== undefined) seen.push({ id: JSON.parse(data).id, atMs: performance.now() });
          }
        });
      },
    );
    request.on("error", reject);
  });
}

function countDeliveries(listeners: readonly Listener[], changes: readonly Change[]): number {
  const perAccount = Map.groupBy(changes, ({ userId }) => userId);
  return listeners.reduce((sum, { user }) => sum + (perAccount.get(user.id)?.length ?? 0), 0);
}

async function waitForAll(listeners: readonly Listener[], expected: number): Promise<void> {
  const untilMs = performance.now() + ARRIVAL_MS;
  const seen = () => listeners.reduce((sum, listener) => sum + listener.seen.length, 0);
  while (seen() < expected && performance.now() < untilMs) await sleep(100);
}

/** Throws unless each listener saw the changes of its account, once and in order, and nothing else. */
export function audit(
  listeners: readonly Pick<Listener, "user" | "seen">[],
  changes: readonly Pick<Change, "id" | "userId">[],
): void {
  for (const { user, seen } of listeners) {
    const own = changes.flatMap(({ id, userId }) => (userId === user.id ? [id] : []));
    const told = seen.map(({ id }) => id);
    if (own.join() !== told.join()) {
      throw new Error(`a listener of account ${user.id} was told of ${told.join()} instead of ${own.join()}`);
    }
  }
}

function report(
  options: Options,
  {
    control,
    spent,
    listeners,
    bytesPerListener,
  }: {
    readonly control: Spent;
    readonly spent: Spent;
    readonly listeners: readonly Listener[];
    readonly bytesPerListener: number;
  },
): EventFigures {
  const committed = new Map(spent.changes.map(({ id, committedMs }) => [id, committedMs]));
  const delays = listeners.flatMap(({ seen }) => seen.map(({ id, atMs }) => atMs - committed.get(id)!));
  const figures = {
    ...{ p50Ms: quantile(delays, 0.5), p99Ms: quantile(delays, 0.99), deliveries: delays.length },
    ...{ serverMsPerSecond: spent.serverMsPerSecond, controlMsPerSecond: control.serverMsPerSecond, bytesPerListener },
  };
  console.log(
    table([
      ["", "listeners", "control: nobody listens"],
      ["listeners", String(options.listeners), "0"],
      ["changes", String(options.changes), String(options.changes)],
      ["deliveries", String(figures.deliveries), "-"],
      ["from commit to listener, p50", `${rounded(figures.p50Ms)} ms`, "-"],
      ["from commit to listener, p99", `${rounded(figures.p99Ms)} ms`, "-"],
      [
        "processor of the server",
        `${rounded(figures.serverMsPerSecond)} ms/s`,
        `${rounded(figures.controlMsPerSecond)} ms/s`,
      ],
      ["memory for a listener", `${rounded(bytesPerListener / 1000, 1)} kB`, "-"],
    ]),
  );
  return figures;
}
