// Debian packages that the end-to-end tests need beside Node: real containers, the real SSH client, a real browser.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";

type Requirement = { readonly packageName: string; readonly reason: string; isPresent(): boolean };

const REQUIREMENTS: readonly Requirement[] = [
  { packageName: "docker.io", reason: "containers", isPresent: () => hasProgram("docker") && hasProgram("dockerd") },
  { packageName: "docker-registry", reason: "a private registry", isPresent: () => hasProgram("docker-registry") },
  { packageName: "openssl", reason: "another reader of certificates", isPresent: () => hasProgram("openssl") },
  { packageName: "curl", reason: "the client of the tour", isPresent: () => hasProgram("curl") },
  { packageName: "openssh-client", reason: "the SSH client", isPresent: () => hasProgram("ssh") },
  { packageName: "busybox-static", reason: "an image that needs no registry", isPresent: hasStaticBusybox },
  { packageName: "openssh-sftp-server", reason: "file transfer into containers", isPresent: hasSftpServer },
  { packageName: "rsync", reason: "the client and server of folder copies", isPresent: () => hasProgram("rsync") },
  { packageName: "rclone", reason: "copies to cloud storage", isPresent: () => hasProgram("rclone") },
  { packageName: "systemd", reason: "the reader of units", isPresent: () => hasProgram("systemd-analyze") },
  { packageName: "haproxy", reason: "the proxy in front of servers", isPresent: () => hasProgram("haproxy") },
  { packageName: "prometheus", reason: "the reader of metrics and alerts", isPresent: hasPrometheus },
  { packageName: "mmdebstrap", reason: "the files of Debian in images", isPresent: () => hasProgram("mmdebstrap") },
  { packageName: "caddy", reason: "a proxy in front", isPresent: () => hasProgram("caddy") },
  { packageName: "pebble", reason: "a certificate authority", isPresent: hasPebble },
  { packageName: "pgbouncer", reason: "a pooler of connections", isPresent: () => hasProgram("pgbouncer") },
  { packageName: "patroni", reason: "a PostgreSQL that fails over", isPresent: () => hasProgram("patroni") },
  { packageName: "python3-etcd", reason: "Patroni's client of etcd", isPresent: hasEtcdClient },
  { packageName: "etcd-server", reason: "the store of Patroni", isPresent: () => hasProgram("etcd") },
  { packageName: "postgresql-15", reason: "the PostgreSQL that Patroni keeps", isPresent: hasPostgres },
  { packageName: "pgbackrest", reason: "the archive of a database", isPresent: () => hasProgram("pgbackrest") },
  { packageName: "chromium", reason: "a browser", isPresent: () => hasProgram("chromium") },
];

/**
 * Installs the packages that are missing, when this process may; otherwise throws with their names. Present ones are
 * not touched, so a second run needs no network.
 */
export function ensureDebianPackages(say: (line: string) => void): void {
  const missing = REQUIREMENTS.filter((requirement) => !requirement.isPresent());
  if (missing.length === 0) return;
  const names = missing.map(({ packageName }) => packageName);
  const described = missing.map(({ packageName, reason }) => `${packageName} (${reason})`).join(", ");
  const prefix = findPrivilege();
  if (prefix === undefined || !hasProgram("apt-get")) {
    throw new Error(`the tests need ${described}; as root: apt-get install ${names.join(" ")}`);
  }
  say(`installing what the tests need: ${described}`);
  apt(prefix, ["update", "--quiet=2"]);
  apt(prefix, ["install", "--yes", "--quiet=2", "--no-install-recommends", ...names]);
  const still = missing.filter((requirement) => !requirement.isPresent()).map(({ packageName }) => packageName);
  if (still.length > 0) throw new Error(`still missing after their installation: ${still.join(", ")}`);
}

/** Words before a command that run it as root; undefined when that needs a password. */
function findPrivilege(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  const asked = hasProgram("sudo") && spawnSync("sudo", ["--non-interactive", "true"]).status === 0;
  return asked ? ["sudo", "--non-interactive"] : undefined;
}

function apt(prefix: readonly string[], args: readonly string[]): void {
  const [program = "", ...rest] = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...args];
  const done = spawnSync(program, rest, { stdio: ["ignore", 2, 2] });
  if (done.status !== 0) throw new Error(`apt-get ${args.join(" ")} failed`);
}

function hasProgram(name: string): boolean {
  const directories = (process.env["PATH"] ?? "").split(":").concat("/usr/sbin", "/sbin");
  return directories.some((directory) => isExecutable(path.join(directory, name)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A part of no search path: only the SSH server calls it. */
function hasSftpServer(): boolean {
  return isExecutable("/usr/lib/openssh/sftp-server");
}

/** The usual package is linked against the system's libraries, which an image made of one file does not have. */
function hasStaticBusybox(): boolean {
  return isExecutable("/bin/busybox") && spawnSync("ldd", ["/bin/busybox"]).status !== 0;
}

/** The authority, and the name server that comes with it. */
function hasPebble(): boolean {
  return hasProgram("pebble") && hasProgram("pebble-challtestsrv");
}

function hasEtcdClient(): boolean {
  return existsSync("/usr/lib/python3/dist-packages/etcd");
}

/** Debian's programs for a whole cluster, which the embedded PostgreSQL does not have. */
function hasPostgres(): boolean {
  return isExecutable("/usr/lib/postgresql/15/bin/pg_basebackup");
}

/** The server, and the tool that comes with it. */
function hasPrometheus(): boolean {
  return hasProgram("prometheus") && hasProgram("promtool");
}
