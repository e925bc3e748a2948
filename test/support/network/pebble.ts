// A certificate authority that speaks ACME, with the name server that it asks: Debian's package pebble.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import tls from "node:tls";
import { until } from "../until.ts";
import { freePort } from "./free-port.ts";
import { aSelfSignedCertificate } from "./self-signed.ts";

export type Pebble = {
  readonly directoryUrl: string;
  /** The port at which it asks for the answers to HTTP challenges. */
  readonly httpPort: number;
  /** The root of the certificates that it issues, in PEM. */
  readonly rootPem: string;
  /** A file with the certificate of its own API. */
  readonly apiCertificateFile: string;
  /** A program that sets and removes TXT records, as an operator would write one. */
  readonly dnsHook: string;
  /** Lets all names lead to this address from now on. */
  pointNamesTo(address: string): Promise<void>;
  stop(): Promise<void>;
};

/** Starts both on ports of the loopback. Names that end in `blocked.example` are refused. This process trusts its API then. */
export async function startPebble(): Promise<Pebble> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-pebble-"));
  const [apiPort, managementPort, httpPort, dnsPort, recordsPort] = [
    ...[await freePort(), await freePort(), await freePort(), await freePort(), await freePort()],
  ] as const;
  const own = aSelfSignedCertificate("localhost");
  const file = (name: string) => path.join(folder, name);
  await writeFile(file("api.pem"), own.cert);
  await writeFile(file("api.key"), own.key);
  const config = {
    listenAddress: `127.0.0.1:${apiPort}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: file("api.pem"),
    privateKey: file("api.key"),
    httpPort,
    tlsPort: 1,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    domainBlocklist: ["blocked.example"],
  };
  await writeFile(file("config.json"), JSON.stringify({ pebble: config }));
  await writeFile(file("hook.sh"), hookFor(recordsPort));
  await chmod(file("hook.sh"), 0o755);
  const records = start("pebble-challtestsrv", [
    ...["-dns01", `127.0.0.1:${dnsPort}`, "-management", `127.0.0.1:${recordsPort}`, "-defaultIPv6", ""],
    ...["-http01", "", "-https01", "", "-tlsalpn01", ""],
  ]);
  const authority = start("pebble", ["-config", file("config.json"), "-dnsserver", `127.0.0.1:${dnsPort}`], {
    PEBBLE_VA_NOSLEEP: "1",
    PEBBLE_WFE_NONCEREJECT: "20",
    PEBBLE_AUTHZREUSE: "0",
  });
  const stop = async () => {
    await Promise.all([end(records), end(authority)]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    tls.setDefaultCACertificates([...tls.getCACertificates("default"), own.cert]);
    const ask = (place: string) => fetchText(`https://localhost:${managementPort}${place}`, own.cert);
    const rootPem = await until("the authority to answer", () => ask("/roots/0").catch(() => undefined));
    const set = (place: string, body: object) =>
      fetch(`http://127.0.0.1:${recordsPort}${place}`, { method: "POST", body: JSON.stringify(body) });
    await until("the name server to answer", () =>
      set("/set-default-ipv4", { ip: "127.0.0.1" }).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return {
      directoryUrl: `https://localhost:${apiPort}/dir`,
      httpPort,
      rootPem,
      apiCertificateFile: file("api.pem"),
      dnsHook: file("hook.sh"),
      async pointNamesTo(address) {
        await set("/set-default-ipv4", { ip: address });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function hookFor(recordsPort: number): string {
  return `#!/bin/sh
set -e
url=http://127.0.0.1:${recordsPort}
case $1 in
add) body="{\\"host\\": \\"$2.\\", \\"value\\": \\"$3\\"}"; place=set-txt ;;
remove) body="{\\"host\\": \\"$2.\\"}"; place=clear-txt ;;
*) echo "what is $1?" >&2; exit 2 ;;
esac
exec curl --fail --silent --show-error --data "$body" "$url/$place"
`;
}

function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(program, [...args], { stdio: "ignore", env: { ...process.env, ...env } });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function fetchText(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = https.get(url, { ca, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => void parts.push(part));
      response.on("end", () => resolve(Buffer.concat(parts).toString("utf8")));
    });
    request.on("error", reject);
  });
}
