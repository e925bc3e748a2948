import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { docker } from "./docker.ts";
import { freePort } from "../network/free-port.ts";
import { until } from "../until.ts";

/** The one login of a private registry made here, with its bcrypt hash, which nothing installed could compute. */
export const REGISTRY_LOGIN = { user: "puller", password: "correct-horse-battery" } as const;
const HTPASSWD = `${REGISTRY_LOGIN.user}:$2y$05$abcdefghijklmnopqrstuuSnF5tLPqPFqc0z9CY0HcSLFbSRlL67u\n`;

export type Registry = {
  /** The registry's address, such as `127.0.0.1:5001`. */
  readonly address: string;
  /** Pushes a local image under this name, and forgets the local name. Returns the whole reference. */
  push(image: string, name: string): Promise<string>;
  close(): Promise<void>;
};

/** A registry on this machine that nobody may read without the login. */
export async function startPrivateRegistry(): Promise<Registry> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-registry-"));
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(path.join(folder, "htpasswd"), HTPASSWD);
  const config = [
    "version: 0.1",
    "log: {level: error}",
    `storage: {filesystem: {rootdirectory: ${folder}/data}}`,
    `http: {addr: "${address}"}`,
    `auth: {htpasswd: {realm: test, path: ${folder}/htpasswd}}`,
  ];
  await writeFile(path.join(folder, "config.yml"), `${config.join("\n")}\n`);
  const child = spawn("docker-registry", ["serve", path.join(folder, "config.yml")], { stdio: "ignore" });
  const pushed: string[] = [];
  const close = async () => {
    for (const reference of pushed) await docker("rmi", "-f", reference).catch(() => undefined);
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until("the registry to refuse strangers", async () => (await fetch(`http://${address}/v2/`)).status === 401);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    address,
    async push(image, name) {
      const reference = `${address}/${name}`;
      pushed.push(reference);
      // A configuration of its own: nobody's stored logins are read or changed.
      const config = ["--config", path.join(folder, "docker")];
      await docker("tag", image, reference);
      await docker(...config, "login", "-u", REGISTRY_LOGIN.user, "-p", REGISTRY_LOGIN.password, address);
      await docker(...config, "push", "-q", reference);
      await docker("rmi", reference);
      return reference;
    },
    close,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
