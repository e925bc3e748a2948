import { execFile, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { run, type Ran } from "../berth.ts";

const execute = promisify(execFile);

/** A key pair that `ssh-keygen` made: the file of the private half, and the line of the public one. */
export type KeyPair = { readonly file: string; readonly publicKey: string };

/** The SSH address of an instance, and the only host key that the client accepts. */
export type Entrance = { readonly host: string; readonly port: number; readonly hostKey: string };

/** OpenSSH's programs, bound for one instance with one key; nothing of this user's own settings counts. */
export type SshClient = {
  ssh(...command: readonly string[]): Promise<Ran>;
  /** A client that stays until it is killed, or the other side ends it. */
  open(...command: readonly string[]): OpenSsh;
  /** A client that only forwards a port (`-L`). */
  forward(rule: string): OpenSsh;
  scp(source: string, destination: string): Promise<Ran>;
  /** Runs the lines of a batch. */
  sftp(batch: readonly string[]): Promise<Ran>;
  rsync(...words: readonly string[]): Promise<Ran>;
};

export type OpenSsh = {
  readonly output: () => string;
  readonly isOpen: () => boolean;
  readonly ended: Promise<number | null>;
  kill(): Promise<void>;
};

export async function aKeyPair(folder: string, name: string): Promise<KeyPair> {
  const file = path.join(folder, name);
  await execute("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", `${name}@example.com`, "-f", file]);
  return { file, publicKey: (await readFile(`${file}.pub`, "utf8")).trim() };
}

/** Keeps the file of known hosts beside the key. */
export async function sshClient({ file }: KeyPair, { host, port, hostKey }: Entrance): Promise<SshClient> {
  const knownHosts = `${file}.known_hosts_${port}`;
  await writeFile(knownHosts, `[${host}]:${port} ${hostKey}\n`);
  const settings = [
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${knownHosts}`,
    "GlobalKnownHostsFile=/dev/null",
    "ConnectTimeout=120",
    "LogLevel=ERROR",
  ];
  const common = ["-F", "/dev/null", "-i", file, ...settings.flatMap((setting) => ["-o", setting])];
  const target = `root@${host}`;
  return {
    ssh: (...command) => run("ssh", [...common, "-p", String(port), target, ...command]),
    open: (...command) => openSsh([...common, "-p", String(port), target, ...command]),
    forward: (rule) => openSsh([...common, "-p", String(port), "-N", "-L", rule, target]),
    scp: (source, destination) => {
      const [from, to] = [source, destination].map((place) => place.replace(/^:/, `${target}:`));
      return run("scp", [...common, "-q", "-r", "-P", String(port), from ?? "", to ?? ""]);
    },
    async sftp(batch) {
      const batchFile = `${file}.batch`;
      await writeFile(batchFile, `${batch.join("\n")}\n`);
      return run("sftp", [...common, "-b", batchFile, "-P", String(port), target]);
    },
    rsync: (...words) => {
      const places = words.map((word) => word.replace(/^:/, `${target}:`));
      return run("rsync", ["-e", ["ssh", ...common, "-p", String(port)].join(" "), ...places]);
    },
  };
}

function openSsh(args: readonly string[]): OpenSsh {
  const child = spawn("ssh", [...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return {
    output: () => output,
    isOpen: () => child.exitCode === null && child.signalCode === null,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
