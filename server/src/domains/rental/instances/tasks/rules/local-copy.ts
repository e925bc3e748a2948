import { COPY_USER } from "../../../../../../../protocol/index.ts";
import { conflict, invalid, type AppError } from "../../../../../base/errors.ts";

/** The fields of an instance's record that say how rsync reaches it. */
export type Entrance = {
  readonly id: number;
  readonly actual_status: string | null;
  readonly is_simulated: boolean;
  readonly image_runtype: string;
  readonly public_ipaddr: string;
  readonly ports: Readonly<Record<string, readonly { readonly HostPort: string }[]>>;
  readonly ssh_host: string;
  readonly ssh_port: number;
  /** `1` when `ssh_port` is one of the proxy. */
  readonly ssh_idx: string;
  readonly ssh_host_key: string | null;
};

/** The end of a copy at an instance, for an rsync on the caller's computer. */
export type CopyDoor = {
  readonly addr: string;
  readonly port: number;
  readonly rsync_user: string;
  /** The module and the path in it, which follow `user@addr::`. */
  readonly rsync_path: string;
  readonly ssh_host_key: string | null;
};

/** Host names and addresses. Clients put them into a shell's command, and hosts report their own. */
const ADDRESS = /^[A-Za-z0-9:][A-Za-z0-9.:_-]{0,254}$/;

/** True for an id that stands for the caller's own computer. */
export function isLocal(id: unknown): boolean {
  return id === undefined || id === null || (typeof id === "string" && /^(local)?$/.test(id.trim()));
}

/** The path on the caller's computer: it stays there, so that it only has to be named. */
export function requireLocalPath(value: unknown, field: "src_path" | "dst_path"): void {
  if (typeof value !== "string" || value === "") throw invalid(field, `Invalid ${field}. It is missing.`);
}

/** True for an instance that runs its image's own entrypoint, and gets proxy ports for copies alone. */
export function lacksProxyPorts(entrance: Entrance): boolean {
  return reasonToRefuse(entrance) === undefined && hasOwnEntrypoint(entrance) && entrance.ssh_idx === "0";
}

/**
 * The instance's own port 22 when its host maps one, else the proxy's, where Jupyter has the first port of a pair and
 * SSH the second. With the image's own entrypoint port 22 is the image's, so only the proxy's counts. An instance
 * without either is refused with the reason.
 */
export function copyDoorOf(entrance: Entrance, path: string): CopyDoor {
  const { id, ssh_host, ssh_port, ssh_idx, ssh_host_key, image_runtype } = entrance;
  const refusal = reasonToRefuse(entrance);
  if (refusal !== undefined) throw refusal;
  const common = { rsync_user: COPY_USER, rsync_path: `${id}${path}`, ssh_host_key };
  const isProxied = hasOwnEntrypoint(entrance);
  const direct = isProxied ? 0 : Number(entrance.ports["22/tcp"]?.[0]?.HostPort ?? 0);
  const address = entrance.public_ipaddr.trim();
  if (direct > 0 && ADDRESS.test(address)) return { addr: address, port: direct, ...common };
  if (isProxied && ssh_idx === "0") {
    throw noAccess(`Instance ${id} runs the entrypoint of its image, and the server has no proxy port left for it.`);
  }
  if (ssh_port === 0 || !ADDRESS.test(ssh_host)) {
    throw noAccess(`Instance ${id} has no SSH address now: try again in a moment.`);
  }
  return { addr: ssh_host, port: ssh_port + (image_runtype.includes("jupyter") ? 1 : 0), ...common };
}

function hasOwnEntrypoint({ image_runtype }: Entrance): boolean {
  return !/\b(ssh|jupyter)/.test(image_runtype);
}

function reasonToRefuse(entrance: Entrance): AppError | undefined {
  const { id, is_simulated, actual_status, ssh_host_key } = entrance;
  if (is_simulated) return noAccess(`Instance ${id} is on a simulated host: it has no files.`);
  if (actual_status !== "running") {
    const message = `Instance ${id} is not running: start it to copy from or to your own computer.`;
    return conflict("not_running", message);
  }
  // Agents that serve such copies report a host key for them.
  if (!hasOwnEntrypoint(entrance) || ssh_host_key !== null) return undefined;
  return noAccess(
    `Instance ${id} runs the entrypoint of its image, and its host's agent is older than copies with those. Copy its files to an instance with the runtype ssh, and from there.`,
  );
}

function noAccess(message: string): AppError {
  return conflict("no_ssh_access", message);
}

/** The command of the unmodified client, with a placeholder for the caller's own path. */
export function describeDoor({ addr, port, rsync_user, rsync_path }: CopyDoor, isSource: boolean): string {
  const host = addr.includes(":") ? `[${addr}]` : addr;
  const remote = quote(`${rsync_user}@${host}::${rsync_path}`);
  const places = isSource ? `${remote} YOUR_PATH` : `YOUR_PATH ${remote}`;
  return `Copy with a key that the instance has: rsync -az --progress -e 'ssh -p ${port}' ${places}`;
}

function quote(word: string): string {
  return /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
