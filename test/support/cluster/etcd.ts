import path from "node:path";
import { memoryDirectory } from "../database/memory-directory.ts";
import { freePort } from "../network/free-port.ts";
import { until } from "../until.ts";
import { removeFolder, startProgram, type Program } from "./program.ts";

type Member = {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
  readonly folder: string;
  program: Program;
};

/** The store in which the two Patroni agree who leads; three members, of which any one may die. */
export class Etcd {
  readonly members: readonly Member[];
  readonly #cluster: string;

  private constructor(members: readonly Member[], cluster: string) {
    this.members = members;
    this.#cluster = cluster;
  }

  static async start(count: number): Promise<Etcd> {
    const places = [];
    for (let number = 1; number <= count; number += 1) {
      const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
      places.push({ name: `etcd${number}`, client, peer, folder: await memoryDirectory() });
    }
    const cluster = places.map(({ name, peer }) => `${name}=${peer}`).join(",");
    const etcd = new Etcd(
      places.map((place) => ({ ...place, program: startMember(place, cluster) })),
      cluster,
    );
    await etcd.untilHealthy();
    return etcd;
  }

  /** Addresses as Patroni takes them. */
  get hosts(): string {
    return this.members.map(({ client }) => new URL(client).host).join(",");
  }

  async kill(index: number): Promise<void> {
    await this.members[index]?.program.end("SIGKILL");
  }

  restart(index: number): void {
    const member = this.members[index];
    if (member !== undefined) member.program = startMember(member, this.#cluster);
  }

  async untilHealthy(): Promise<void> {
    for (const { client, program, name } of this.members) {
      await until(`${name} to be healthy`, async () => {
        if (!program.isRunning()) throw new Error(program.output());
        const answer = await fetch(`${client}/health`);
        const { health } = (await answer.json()) as { readonly health: string };
        return health === "true";
      });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ program }) => program.end("SIGKILL")));
    for (const { folder } of this.members) await removeFolder(folder);
  }
}

function startMember({ name, client, peer, folder }: Omit<Member, "program">, cluster: string): Program {
  return startProgram(
    "etcd",
    [
      ...["--name", name, "--data-dir", path.join(folder, "etcd")],
      ...["--listen-client-urls", client, "--advertise-client-urls", client],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
      ...["--initial-cluster", cluster, "--initial-cluster-state", "new", "--log-level", "error"],
    ],
    // The package refuses processors that it was not tested on.
    { env: { ETCD_UNSUPPORTED_ARCH: process.arch === "arm64" ? "arm64" : "" } },
  );
}
