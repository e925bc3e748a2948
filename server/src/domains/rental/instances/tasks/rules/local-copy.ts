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

/**
 * The instance's own port 22 when its host maps one, else the proxy's, where Jupyter has the first port of a pair and
 * SSH the second. An instance without either is refused with the reason.
 */
export function copyDoorOf(entrance: Entrance, path: string): CopyDoor {
  const { id, ssh_host, ssh_port, ssh_host_key, image_runtype } = entrance;
  refuseClosed(entrance);
  const common = { rsync_user: COPY_USER, rsync_path: `${id}${path}`, ssh_host_key };
  const direct = Number(entrance.ports["22/tcp"]?.[0]?.HostPort ?? 0);
  const address = entrance.public_ipaddr.trim();
  if (direct > 0 && ADDRESS.test(address)) return { addr: address, port: direct, ...common };
  if (ssh_port === 0 || !ADDRESS.test(ssh_host)) {
    throw noAccess(`Instance ${id} has no SSH address now: try again in a moment.`);
  }
  return { addr: ssh_host, port: ssh_port + (image_runtype.includes("jupyter") ? 1 : 0), ...common };
}

function refuseClosed({ id, is_simulated, image_runtype, actual_status }: Entrance): void {
  if (is_simulated) throw noAccess(`Instance ${id} is on a simulated host: it has no files.`);
  if (!/\b(ssh|jupyter)/.test(image_runtype)) {
    throw noAccess(
      `Instance ${id} runs the entrypoint of its image, without the platform's SSH server. Copy its files to an instance with the runtype ssh, and from there.`,
    );
  }
  if (actual_status === "running") return;
  const message = `Instance ${id} is not running: start it to copy from or to your own computer.`;
  throw conflict("not_running", message);
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
