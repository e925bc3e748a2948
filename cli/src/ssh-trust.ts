import { writeFile } from "node:fs/promises";
import path from "node:path";

/** An instance and the host key of its SSH server; null while the server does not know the key. */
export type Trusted = { readonly id: number; readonly ssh_host_key: string | null };

/** Options of ssh that accept only the host key that the server knows; without one, ssh keeps the first key it sees. */
export async function trustOptions({ id, ssh_host_key: key }: Trusted, folder: string): Promise<readonly string[]> {
  if (key === null) return ["-o", "StrictHostKeyChecking=accept-new"];
  const name = `berth-instance-${id}`;
  const knownHosts = path.join(folder, "known_hosts");
  await writeFile(knownHosts, `${name} ${key}\n`, { mode: 0o600 });
  const settings = ["StrictHostKeyChecking=yes", `HostKeyAlias=${name}`, `UserKnownHostsFile=${knownHosts}`];
  return [...settings, "GlobalKnownHostsFile=/dev/null", "UpdateHostKeys=no"].flatMap((setting) => ["-o", setting]);
}
