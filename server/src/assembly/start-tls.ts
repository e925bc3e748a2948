import { CERTIFICATES_LOOP } from "../domains/names/index.ts";
import { TlsFront } from "../http/tls-front.ts";
import type { BerthApp } from "./app.ts";
import type { TlsSettings } from "./names-settings.ts";

export type Tls = {
  /** Takes no further connections. */
  readonly close: () => void;
};

/** The ports of a server that serves no TLS. */
export const NO_TLS: Tls = { close: () => {} };

/** Opens the ports for HTTPS and for its challenges. Certificates that are there are served at once; others are ordered. */
export async function startTls(
  settings: TlsSettings,
  { names, http, loops }: Pick<BerthApp, "names" | "http"> & { readonly loops: Pick<BerthApp["loops"], "wake"> },
): Promise<Tls> {
  if (names === undefined) return NO_TLS;
  await names.load();
  const front = new TlsFront({
    contextFor: (host) => names.contextFor(host),
    serverFor: () => http.app.server,
    answerTo: (token) => names.answerTo(token),
    domain: settings.domain,
    isServed: (host) => host === settings.domain,
  });
  await front.listen(settings);
  loops.wake(CERTIFICATES_LOOP);
  return { close: () => front.close() };
}
