// One instance as the console shows it: the query, and the ways in.
import { queryOptions } from "@tanstack/react-query";
import { instanceShow, type Instance } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { hourly, money } from "../../text/money.ts";
import { bytes } from "../../text/size.ts";

/** One instance; null when there is none, or it is somebody else's. */
export function instanceQuery(id: string) {
  return queryOptions({
    queryKey: ["instance", "instance.show", id],
    queryFn: async ({ signal }) => (await instanceShow(client, { id: Number(id) }, { signal })).instances,
  });
}

/** `2× RTX 4090`, or the cores of a machine without GPUs. */
export function gpusOf({ num_gpus: gpus, gpu_name: name, cpu_cores_effective: cores }: Instance): string {
  if (name === "" || gpus === 0) return `${Math.round(cores)} cores`;
  return gpus === 1 ? name : `${gpus}× ${name}`;
}

/** A host says its address, so only one that a shell takes for nothing else is put into a command. */
const HOST = /^[A-Za-z0-9:][A-Za-z0-9.:_-]*$/;

/** The command that opens a shell: at the instance's own port, else through the server; undefined while there is neither. */
export function sshCommandOf(instance: Instance): string | undefined {
  const direct = Number(instance.ports["22/tcp"]?.[0]?.HostPort ?? 0);
  const address = instance.public_ipaddr.trim();
  if (direct > 0 && HOST.test(address)) return `ssh -p ${direct} root@${address}`;
  if (instance.ssh_port === 0 || !HOST.test(instance.ssh_host)) return undefined;
  const offset = instance.image_runtype.includes("jupyter") ? 1 : 0;
  return `ssh -p ${instance.ssh_port + offset} root@${instance.ssh_host}`;
}

/** A port of the container that is open to the world. */
export type OpenPort = {
  /** `8080/tcp`, inside. */
  readonly inner: string;
  /** `203.0.113.7:40012`, outside. */
  readonly place: string;
  /** The address for a browser; undefined where it is no plain one, or the port is not for TCP. */
  readonly link: string | undefined;
  readonly isJupyter: boolean;
};

/** A host says its address, so only a plain one becomes a link. */
const ADDRESS = /^[A-Za-z0-9.-]+$/;

/** The open ports of an instance without that of SSH. */
export function portsOf(instance: Instance) {
  const { ports, port_urls: urls, public_ipaddr: address, image_runtype: runtype, jupyter_token: token } = instance;
  const host = address.trim();
  return Object.entries(ports).flatMap(([inner, places]): readonly OpenPort[] => {
    const port = Number(places[0]?.HostPort ?? 0);
    if (port <= 0 || inner === "22/tcp") return [];
    const isJupyter = inner === "8080/tcp" && runtype.includes("jupyter") && token !== "";
    const path = isJupyter ? `/?token=${encodeURIComponent(token)}` : "/";
    const isLink = ADDRESS.test(host) && inner.endsWith("/tcp");
    const direct = isLink ? `${isJupyter ? "https" : "http"}://${host}:${port}${path}` : undefined;
    // The address by name has TLS, and works also where the host cannot be reached.
    return [{ inner, place: `${host}:${port}`, link: urls[inner] ?? direct, isJupyter }];
  });
}

/** The loss that destroying an instance means, in two sentences. */
export function lossOf({ disk_usage: gb, disk_space: space, volume_info: volumes }: Instance): string {
  const used = gb > 0 ? bytes(gb * 1e9) : "everything";
  const kept = volumes.length === 0 ? "It has no volume, so nothing is kept." : "Its volumes are kept.";
  return `${used} on its disk of ${bytes(space * 1e9)} is lost. ${kept}`;
}

/** Dollars an hour with what they are made of. */
export function costText({ dph_total: total, storage_total_cost: disk, traffic_cost: traffic }: Instance): string {
  return `${hourly(total)} while it runs, of which ${hourly(disk)} for the disk; traffic so far ${money(traffic)}`;
}
