/** A port of an instance, as a host name says it: `7-8080` before the domain. */
export type PortName = { readonly instanceId: number; readonly port: number };

const LABEL = /^([1-9]\d{0,9})-([1-9]\d{0,4})$/;
const ID_MAX = 2 ** 31 - 1;
const PORT_MAX = 65_535;

/** The host name of a port. */
export function portNameOf({ instanceId, port }: PortName, domain: string): string {
  return `${instanceId}-${port}.${domain}`;
}

/** The port that a `Host` header names below this domain; undefined for any other host. */
export function parsePortName(host: string | undefined, domain: string): PortName | undefined {
  const name = (host ?? "").toLowerCase().replace(/:\d{1,5}$/, "");
  if (!name.endsWith(`.${domain}`)) return undefined;
  const [, id, port] = LABEL.exec(name.slice(0, -domain.length - 1)) ?? [];
  const [instanceId, number] = [Number(id), Number(port)];
  return instanceId <= ID_MAX && number <= PORT_MAX ? { instanceId, port: number } : undefined;
}
