import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { discard, NO_LIMITS, startBerth, type Berth } from "../berth.ts";
import { busyboxImage } from "./docker.ts";
import { joinedHost, type JoinedHost } from "./joined-host.ts";
import { unmountBelow } from "./mounts.ts";
import { aRenter, type Renter, type Shown } from "../renter.ts";
import { until } from "../until.ts";

const run = promisify(execFile);
/** Each machine has all ports for itself. */
const DIRECT_PORTS = "27840-27859";
const SETTINGS = { ...NO_LIMITS, BERTH_LEASE_SECONDS: "20", BERTH_PROXY_PORTS: "30860-30899" };

/** A machine that the server knows, with its id and the words after `./berth agent` with which it joined. */
export type Joined = JoinedHost & { readonly id: number; readonly words: readonly string[] };

type Listed = {
  readonly id: number;
  readonly is_connected: boolean;
  readonly clone_noticed_at: number | null;
};
type Offer = { readonly id: number } & Readonly<Record<string, unknown>>;

/** A server and two machines that joined it, each in a network of its own, with a directory that both mount. */
export type TwoHosts = {
  readonly berth: Berth;
  readonly renter: Renter;
  readonly a: Joined;
  readonly b: Joined;
  readonly sharedDirectory: string;
  /** The machines in `./berth host list`. */
  machines(): Promise<readonly Listed[]>;
  untilConnected(host: Joined, isConnected: boolean): Promise<Listed>;
  offersOf(host: Joined): Promise<readonly Offer[]>;
  rentOn(host: Joined, body?: object): Promise<Shown>;
  close(): Promise<void>;
};

/** `subnets` are the first three numbers of two networks that nobody else uses. */
export async function startTwoHosts(subnets: readonly [string, string]): Promise<TwoHosts> {
  const cleanups = new AsyncDisposableStack();
  try {
    return await start(subnets, cleanups);
  } catch (cause) {
    await cleanups.disposeAsync();
    throw cause;
  }
}

async function start(subnets: readonly [string, string], cleanups: AsyncDisposableStack): Promise<TwoHosts> {
  const image = await busyboxImage();
  const sharedDirectory = await mountedDirectory(cleanups);
  const berth = await startBerth({ args: ["--no-agent", "--host", "0.0.0.0"], env: SETTINGS });
  cleanups.defer(() => discardRunning(berth));
  const made = subnets.map(async (subnet) => {
    const host = await joinedHost(subnet, DIRECT_PORTS);
    cleanups.defer(() => host.close());
    return host;
  });
  // When one machine could not be made, the other one must not be left behind.
  await Promise.allSettled(made);
  const hosts = await Promise.all(made);
  const containers = async (id: number) => (await Promise.all(hosts.map((host) => host.containersOf(id)))).flat();
  const renter = await aRenter({ berth: () => berth, image, containers }, "two-hosts");
  cleanups.defer(() => renter.close());
  const machines = () => listMachines(berth);
  const [a, b] = [await join(berth, hosts[0]), await join(berth, hosts[1])];
  const on = (host: Joined) => ({ machine_id: { eq: host.id } });
  return {
    ...{ berth, renter, a, b, sharedDirectory, machines },
    untilConnected: ({ id }, isConnected) =>
      until(`machine ${id} to be ${isConnected ? "here" : "away"}`, async () =>
        (await machines()).find((machine) => machine.id === id && machine.is_connected === isConnected),
      ),
    offersOf: async (host) => (await renter.done("POST", "/api/v0/bundles/", on(host))).offers,
    rentOn: (host, body = {}) => renter.rentAndRun({ runtype: "ssh_direct", ...body }, on(host)),
    close: () => cleanups.disposeAsync(),
  };
}

/** A server that is over already explains every other failure. */
async function discardRunning(berth: Berth): Promise<void> {
  const isOver = await Promise.race([berth.ended.then(() => true), Promise.resolve(false)]);
  await discard(berth);
  assert.ok(!isOver, `the server ended by itself: ${JSON.stringify(await berth.ended)} ${berth.output()}`);
}

/** Does what the operators of both sides do: makes a token here, and types the printed command there. */
async function join(berth: Berth, host: JoinedHost | undefined): Promise<Joined> {
  assert.ok(host);
  const known = new Set((await listMachines(berth)).map(({ id }) => id));
  const { code, stdout, stderr } = await berth.cli("host", "token", "create");
  assert.equal(code, 0, stderr);
  const words = /^ {2}\.\/berth agent (--server \S+ --token \S+)$/m.exec(stdout)?.[1]?.split(" ");
  assert.ok(words !== undefined, stdout);
  host.startAgent(...words);
  const joined = await until("another machine", async () => {
    const found = (await listMachines(berth)).find((machine) => machine.is_connected && !known.has(machine.id));
    if (found !== undefined || host.hasAgentEnded()) return { found };
    throw new Error(host.output());
  });
  assert.ok(joined.found, `the agent ended: ${host.output()}`);
  return { ...host, id: joined.found.id, words };
}

async function listMachines(berth: Berth): Promise<readonly Listed[]> {
  const { status, body, text } = await berth.call("GET", "/api/v0/hosts/credentials/", { key: berth.adminKey });
  assert.equal(status, 200, text);
  const { credentials }: { readonly credentials: readonly { readonly machines: readonly Listed[] }[] } = body;
  return credentials.flatMap((credential) => credential.machines);
}

/** A directory with a file system of its own, as storage that several machines mount. It takes memory as it is used. */
async function mountedDirectory(cleanups: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(path.join(await realpath(tmpdir()), "berth-shared-"));
  cleanups.defer(async () => {
    await unmountBelow(folder);
    await rm(folder, { recursive: true, force: true });
  });
  const directory = path.join(folder, "disk");
  await mkdir(directory);
  await run("mount", ["-t", "tmpfs", "-o", "size=4g,mode=700", "berth-shared", directory]);
  return directory;
}
