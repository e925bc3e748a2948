import type { Config } from "./config.ts";
import type { AdminKeyPlan } from "../domains/servers/index.ts";

export type Standing = {
  readonly url: string;
  readonly keyFile: string;
  readonly adminKey: AdminKeyPlan;
  readonly connectedHosts: number;
  readonly gpuCount: number;
  readonly offerCount: number;
  readonly isAgentGivenUp: boolean;
  /** The path of a link that signs the administrator in once; undefined where it would end up in a log. */
  readonly signInPath: string | undefined;
};

/** The text printed when the service is ready: one line for programs, then the next steps for a person. */
export function readyText(config: Config, standing: Standing): string {
  const url = config.tls?.url ?? standing.url;
  return [
    `ready ${standing.url}`,
    "",
    `  ${marketLine(config, standing)}`,
    ...tlsLines(config),
    ...signInLines({ ...standing, url }),
    ...keyLines(standing),
    "",
    `    ./berth search`,
    `    ./berth admin user create you@example.com --credit 25`,
    "",
    `  The API is described at ${url}/docs. Ctrl-C stops the service; your data stays in ${config.dataDir}.`,
    "",
  ].join("\n");
}

function tlsLines({ tls }: Config): readonly string[] {
  if (tls === undefined) return [];
  return [
    `  It is served at ${tls.url} as soon as the certificate is there; until then /readyz says what is missing.`,
    "",
  ];
}

function signInLines({ url, signInPath }: Standing): readonly string[] {
  if (signInPath === undefined) return ["  ./berth admin sign-in-link makes a link to the console.", ""];
  return ["  Open the console with this link, good for 15 minutes and one sign-in:", "", `    ${url}${signInPath}`, ""];
}

function keyLines({ keyFile, adminKey }: Standing): readonly string[] {
  if (adminKey.kind !== "elsewhere") return [`  Your admin key is in ${keyFile}. Try, in another terminal:`];
  const place = adminKey.place === undefined ? "of the first server" : adminKey.place;
  return [
    `  The admin key of this database is in the data directory ${place}: copy it to ${keyFile},`,
    "  or start with --new-admin-key, which makes a new one and ends that one. Try then, in another terminal:",
  ];
}

function marketLine(config: Config, { connectedHosts, gpuCount, offerCount, isAgentGivenUp }: Standing): string {
  if (config.simulatedHosts !== undefined) {
    const hosts = count(connectedHosts, "simulated host");
    const awaited = config.simulatedHosts - connectedHosts;
    const coming = awaited > 0 ? ` (${awaited} more are on their way)` : "";
    const offers = `${count(gpuCount, "GPU")} in ${count(offerCount, "offer")}`;
    return `${hosts}${coming} with ${offers}: nothing runs on real machines.`;
  }
  if (!config.hasAgent || isAgentGivenUp) return "No host is on the market yet.";
  if (connectedHosts === 0) return "This machine is still getting ready to be a host; it joins the market by itself.";
  if (offerCount === 0) return "This machine is on the market; all of it is rented.";
  return `This machine is on the market with ${count(offerCount, "offer")}.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
