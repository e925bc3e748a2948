import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createConnection } from "node:net";
import path from "node:path";
import { runBerth, type Answer, type Ran } from "./berth.ts";
import { curl } from "./network/curl.ts";
import { aKeyPair, sshClient, type KeyPair, type SshClient } from "./hosts/ssh-client.ts";
import { NO_TRACES, type ThisMachine } from "./hosts/this-machine.ts";
import { until } from "./until.ts";

/** An instance's record, as far as tests look at it. */
export type Shown = {
  readonly id: number;
  readonly actual_status: string | null;
  readonly status_msg: string | null;
  readonly public_ipaddr: string;
  readonly local_ipaddrs: string;
  readonly ports: Readonly<Record<string, readonly { readonly HostPort: string }[]>>;
  readonly ssh_host: string;
  readonly ssh_port: number;
  readonly ssh_host_key: string | null;
};

/** Somebody with an account, credit and an SSH key, who rents this machine with curl and `./berth`. */
export type Renter = {
  /** The renter's API key. */
  readonly key: string;
  readonly keys: KeyPair;
  /** Files of its own; removed with it. */
  readonly folder: string;
  call(method: string, target: string, body?: unknown): Promise<Answer>;
  /** The body of an answer that must be good. */
  // Tests assert the form of the body themselves.
  // oxlint-disable-next-line typescript/no-explicit-any
  done(method: string, target: string, body?: unknown): Promise<any>;
  cli(...words: readonly string[]): Promise<Ran>;
  /** Runs a command of `./berth` that must succeed; returns its output. */
  told(...words: readonly string[]): Promise<string>;
  /** Id of the cheapest offer: one core. `search` narrows it down to one of several machines. */
  anOffer(search?: object): Promise<number>;
  rent(body: object, search?: object): Promise<number>;
  rentAndRun(body: object, search?: object): Promise<Shown>;
  show(id: number): Promise<Shown>;
  untilStatus(id: number, status: string): Promise<Shown>;
  /** Waits until the instance's status message matches. */
  untilMessage(id: number, pattern: RegExp): Promise<Shown>;
  /** Destroys it, and waits until none of its containers is left. */
  destroy(id: number): Promise<void>;
  /** OpenSSH's programs by the direct way or through the proxy, with the renter's keys or others. */
  client(instance: Shown, way?: "direct" | "proxy", by?: KeyPair): Promise<SshClient>;
  /** A command that must succeed there; returns what it printed. */
  inside(instance: Shown, command: string): Promise<string>;
  close(): Promise<void>;
};

/** The rented machine, or several of them. */
export type Market = Pick<ThisMachine, "berth" | "image" | "containers">;

export async function aRenter(machine: Market, name: string): Promise<Renter> {
  const folder = await mkdtemp(path.join(tmpdir(), `berth-${name}-`));
  const keys = await aKeyPair(folder, "id_ed25519");
  const account = await machine.berth().admin("user", "create", `${name}@example.com`, "--credit", "50");
  const key = String(account["api_key"]);

  const call = (method: string, target: string, body?: unknown) =>
    curl(method, `${machine.berth().url}${target}`, { key, ...(body === undefined ? {} : { body }) });
  const done = async (method: string, target: string, body?: unknown) => {
    const answer = await call(method, target, body);
    assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
    return answer.body;
  };
  const cli = (...words: readonly string[]) =>
    runBerth(words, { BERTH_API_KEY: key, BERTH_DATA_DIR: machine.berth().dataDir });
  const told = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await cli(...words);
    assert.equal(code, 0, `berth ${words.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };
  const show = async (id: number): Promise<Shown> => (await done("GET", `/api/v0/instances/${id}/`)).instances;
  const untilShown = (what: string, id: number, isIt: (instance: Shown) => boolean) =>
    until(`instance ${id} ${what}`, async () => {
      const instance = await show(id);
      if (isIt(instance)) return instance;
      throw new Error(`${instance.actual_status}: ${instance.status_msg}`);
    });
  const anOffer = async (search: object = {}): Promise<number> => {
    const cheapest = { num_gpus: { eq: 0 }, order: [["dph_total", "asc"]], ...search };
    const [offer] = await until("an offer of this machine", async () => {
      const { offers } = await done("POST", "/api/v0/bundles/", cheapest);
      return offers.length > 0 && offers;
    });
    return offer.id;
  };
  const rent = async (body: object, search?: object): Promise<number> => {
    const answer = await until("a rental", async () => {
      const offer = await anOffer(search);
      const given = await call("PUT", `/api/v0/asks/${offer}/`, { image: machine.image, disk: 8, ...body });
      // The search may still show an offer that was rented a moment ago: on 410 the renter searches again.
      return given.status !== 410 && given;
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.new_contract;
  };
  const untilStatus = (id: number, status: string) =>
    untilShown(`is ${status}`, id, (instance) => instance.actual_status === status);
  const client = (instance: Shown, way = "direct", by = keys) => {
    const hostKey = instance.ssh_host_key ?? "";
    const direct = { host: instance.public_ipaddr, port: Number(instance.ports["22/tcp"]?.[0]?.HostPort), hostKey };
    const proxy = { host: instance.ssh_host, port: instance.ssh_port, hostKey };
    return sshClient(by, way === "direct" ? direct : proxy);
  };
  await told("ssh-key", "create", `${keys.file}.pub`);
  return {
    key,
    keys,
    folder,
    call,
    done,
    cli,
    told,
    anOffer,
    rent,
    rentAndRun: async (body, search) => untilStatus(await rent(body, search), "running"),
    show,
    untilStatus,
    untilMessage: (id, pattern) =>
      untilShown(`says ${pattern}`, id, (instance) => pattern.test(instance.status_msg ?? "")),
    async destroy(id) {
      await done("DELETE", `/api/v0/instances/${id}/`);
      await until(`no container of instance ${id} is left`, async () => (await machine.containers(id)).length === 0);
    },
    client,
    async inside(instance, command) {
      // The first rental of a host starts its SSH server: that may take a moment longer than the container does.
      const port = Number(instance.ports["22/tcp"]?.[0]?.HostPort);
      await until(`port ${port} is open`, () => isOpen(instance.public_ipaddr, port));
      const { code, stdout, stderr } = await (await client(instance)).ssh(command);
      assert.equal(code, 0, `${command}: ${stderr}`);
      return stdout;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Waits until this machine has no trace of a rental, and all of its cores are on the market again. */
export async function untilUntouched(machine: ThisMachine, renter: Renter): Promise<void> {
  await renter.anOffer();
  await until("no trace of a rental", async () => {
    assert.deepEqual(await machine.traces(), NO_TRACES);
    return true;
  });
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
