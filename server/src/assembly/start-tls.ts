import { CERTIFICATES_LOOP, covers } from "../domains/names/index.ts";
import { TlsFront } from "../http/tls-front.ts";
import type { BerthApp } from "./app.ts";
import type { PortNameSettings, TlsSettings } from "./names-settings.ts";

export type Tls = {
  /** Takes no further connections, and ends those to ports of instances. */
  readonly close: () => void;
};

type Means = Pick<BerthApp, "names" | "http" | "portNames"> & { readonly loops: Pick<BerthApp["loops"], "wake"> };
type Settings = {
  readonly tls: TlsSettings | undefined;
  readonly portNames: PortNameSettings | undefined;
  /** The address that the port without TLS listens at. */
  readonly host: string;
};

/**
 * Opens the ports for HTTPS and its challenges, and the one without TLS for names of ports. Certificates that are there are
 * served at once; others are ordered.
 */
export async function startTls({ tls, portNames: ports, host }: Settings, means: Means): Promise<Tls> {
  const { names, http, loops, portNames } = means;
  if (portNames !== undefined && ports?.plainPort !== undefined) await listenPlain(portNames, ports.plainPort, host);
  if (tls === undefined || names === undefined) return { close: () => portNames?.close() };
  await names.load();
  const isPort = (name: string) => ports !== undefined && name !== tls.domain && covers(`*.${ports.domain}`, name);
  const front = new TlsFront({
    contextFor: (name) => names.contextFor(name),
    serverFor: (name) => (portNames !== undefined && isPort(name) ? portNames.server : http.app.server),
    answerTo: (token) => names.answerTo(token),
    domain: tls.domain,
    isServed: (name) => name === tls.domain || isPort(name),
  });
  await front.listen(tls);
  loops.wake(CERTIFICATES_LOOP);
  return {
    close: () => {
      front.close();
      portNames?.close();
    },
  };
}

function listenPlain({ server }: NonNullable<Means["portNames"]>, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
