/** The fields of a record that say how its instance is reached. */
export type Reachable = {
  readonly image_runtype: string;
  readonly public_ipaddr: string;
  readonly ports: Readonly<Record<string, readonly { readonly HostPort: string }[]>>;
  readonly ssh_host: string;
  readonly ssh_port: number;
};

/** The address if it is safe: it comes from a host, and `ssh` or a shell must not take it for an option or command. */
const HOST = /^[A-Za-z0-9:][A-Za-z0-9.:_-]*$/;

export type SshAddress = { readonly host: string; readonly port: number };

/**
 * The address at which SSH answers: the instance's own port 22 when its host maps one, else the proxy of the server,
 * where Jupyter has the first port of a pair and SSH the second. Undefined while there is neither.
 */
export function sshAddressOf(instance: Reachable): SshAddress | undefined {
  const direct = Number(instance.ports["22/tcp"]?.[0]?.HostPort ?? 0);
  const address = instance.public_ipaddr.trim();
  if (direct > 0 && HOST.test(address)) return { host: address, port: direct };
  if (instance.ssh_port === 0 || !HOST.test(instance.ssh_host)) return undefined;
  const offset = instance.image_runtype.includes("jupyter") ? 1 : 0;
  return { host: instance.ssh_host, port: instance.ssh_port + offset };
}

/** `ssh://root@host:port`, as programs take it. */
export function sshUrl(scheme: "ssh" | "scp", { host, port }: SshAddress): string {
  return `${scheme}://root@${host.includes(":") ? `[${host}]` : host}:${port}`;
}
