import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { inTurn } from "../in-turn.ts";

const run = promisify(execFile);

export const DOCKER_SOCKET = "/var/run/docker.sock";
/** The images that an agent under test opens to renters: those that tests make here, and registries of this machine. */
export const OPEN_HOST = {
  BERTH_AGENT_LOCAL_IMAGES: "berth-test/*,127.0.0.1:1/berth-test/*",
  BERTH_AGENT_ALLOW_REGISTRIES: "127.0.0.1",
} as const;
const START_ATTEMPTS = 1_500;
const ATTEMPT_MS = 200;
/** Names under which the one binary is called in tests. */
const APPLETS = [
  "sh",
  "ash",
  "cat",
  "echo",
  "env",
  "false",
  "grep",
  "head",
  "hostname",
  "httpd",
  "id",
  "kill",
  "ls",
  "ln",
  "mkdir",
  "mknod",
  "mount",
  "nc",
  "ping",
  "printenv",
  "ps",
  "rm",
  "seq",
  "printf",
  "sleep",
  "test",
  "touch",
  "tr",
  "true",
  "wget",
  "chmod",
  "chown",
  "cp",
  "wc",
  "dd",
  "trap",
] as const;
/** An image named by its content: one with an earlier list of names has another name. */
const BUSYBOX_IMAGE = `berth-test/busybox:${createHash("sha256").update(APPLETS.join()).digest("hex").slice(0, 12)}`;

/** Runs the Docker command line and returns what it printed. */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("docker", [...args], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.trim();
}

/** Makes sure that a Docker daemon answers, starting one when this process may. It is left running for later tests. */
export async function ensureDocker(): Promise<void> {
  if (await isDockerUp()) return;
  await inTurn("docker", startDocker);
}

async function startDocker(): Promise<void> {
  if (await isDockerUp()) return;
  const log = openSync(join(tmpdir(), "berth-test-dockerd.log"), "a");
  spawn("dockerd", [], { detached: true, stdio: ["ignore", log, log] }).unref();
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
    if (await isDockerUp()) return;
    await delay(ATTEMPT_MS);
  }
  throw new Error(
    "no Docker daemon answers, and none could be started: see berth-test-dockerd.log in the temporary folder",
  );
}

/** An image made on the spot from the static busybox of this machine, so that no registry is needed. */
export async function busyboxImage(): Promise<string> {
  await ensureDocker();
  return imageOf(BUSYBOX_IMAGE, ["ENV PATH=/bin", 'CMD ["sleep","86400"]'], fillWithBusybox);
}

/** Fills a folder with the content of the busybox image. */
export async function fillWithBusybox(root: string): Promise<void> {
  for (const folder of ["bin", "etc", "root", "tmp", "proc", "sys", "dev"]) await mkdir(join(root, folder));
  await copyProgram(join(root, "bin/busybox"));
  for (const applet of APPLETS) await symlink("busybox", join(root, "bin", applet));
}

/** An image with one static program and nothing else: no shell, no folder, no user. */
export async function bareImage(): Promise<string> {
  await ensureDocker();
  return imageOf("berth-test/bare:1", ['CMD ["/sleep","86400"]'], (root) => copyProgram(join(root, "sleep")));
}

async function copyProgram(path: string): Promise<void> {
  await copyFile("/bin/busybox", path);
  await chmod(path, 0o755);
}

/** An image of that name, made of what `fill` puts into a folder, unless it is there. */
export async function imageOf(
  name: string,
  changes: readonly string[],
  fill: (root: string) => Promise<void>,
): Promise<string> {
  if (await hasImage(name)) return name;
  // Two processes that make the image at once would make two, and the later one would take the name of the earlier.
  await inTurn(name, () => makeImage(name, changes, fill));
  return name;
}

async function makeImage(
  name: string,
  changes: readonly string[],
  fill: (root: string) => Promise<void>,
): Promise<void> {
  if (await hasImage(name)) return;
  const root = await mkdtemp(join(tmpdir(), "berth-image-"));
  try {
    await fill(root);
    const archive = `${root}.tar`;
    await run("tar", ["-C", root, "-cf", archive, "."]);
    await docker("import", ...changes.flatMap((change) => ["--change", change]), archive, name);
    await rm(archive);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Removes every container that carries the label, in any state. */
export async function removeLabelled(label: string, value: string): Promise<void> {
  const ids = (await docker("ps", "-aq", "--filter", `label=${label}=${value}`)).split("\n").filter(Boolean);
  if (ids.length > 0) await docker("rm", "-f", "-v", ...ids);
}

export async function hasImage(image: string): Promise<boolean> {
  return docker("image", "inspect", image).then(
    () => true,
    () => false,
  );
}

async function isDockerUp(): Promise<boolean> {
  return docker("info", "--format", "{{.ServerVersion}}").then(
    () => true,
    () => false,
  );
}
