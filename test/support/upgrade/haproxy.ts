// HAProxy before some servers, with a check of `/readyz` as docs/operate/upgrade.md gives it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort } from "../network/free-port.ts";
import { until } from "../until.ts";

export type Proxy = {
  readonly url: string;
  /** The state of each server, such as UP or DOWN, by its port. */
  states(): Promise<ReadonlyMap<number, string>>;
  /** Figures that must be zero when no request failed at the proxy. */
  failures(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
};

/** Failed connections, broken answers, repeated sendings, and answers of class 5xx. */
const FAILURES = ["econ", "eresp", "wretr", "wredis", "hrsp_5xx"];

/**
 * Starts HAProxy; its own answers, where no server is up, are of class 5xx, too. With `redispatches` it sends a request whose
 * server takes no connection to another one, as servers need it that stop without a notice.
 */
export async function startProxy(
  ports: readonly number[],
  { redispatches }: { readonly redispatches: boolean },
): Promise<Proxy> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-haproxy-"));
  const [port, statisticsPort] = [await freePort(), await freePort()];
  const file = path.join(folder, "haproxy.cfg");
  await writeFile(file, configuration(ports, { port, statisticsPort, redispatches }));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "close");
  const rows = async (): Promise<readonly Readonly<Record<string, string>>[]> => {
    if (child.exitCode !== null) throw new Error(`haproxy ended:\n${output}`);
    const response = await fetch(`http://127.0.0.1:${statisticsPort}/;csv`);
    const [header = "", ...lines] = (await response.text()).replace(/^# /, "").trim().split("\n");
    const names = header.split(",");
    return lines.map((line) => Object.fromEntries(line.split(",").map((value, index) => [names[index] ?? "", value])));
  };
  const ofServers = async () => (await rows()).filter(({ pxname }) => pxname === "berth");
  const states = async () =>
    new Map((await ofServers()).map(({ svname, status }) => [Number(svname?.slice(1)), status ?? ""]));
  await until("the proxy to answer", async () => (await states()).size > 0);
  return {
    url: `http://127.0.0.1:${port}`,
    states,
    async failures() {
      const total = (await ofServers()).find(({ svname }) => svname === "BACKEND");
      return Object.fromEntries(FAILURES.map((name) => [name, Number(total?.[name])]));
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(
  ports: readonly number[],
  {
    port,
    statisticsPort,
    redispatches,
  }: { readonly port: number; readonly statisticsPort: number; readonly redispatches: boolean },
): string {
  return `
defaults
  mode http
  timeout connect 10s
  timeout client 120s
  timeout server 120s
frontend clients
  bind 127.0.0.1:${port}
  default_backend berth
frontend statistics
  bind 127.0.0.1:${statisticsPort}
  stats enable
  stats uri /
backend berth
  balance roundrobin
  option httpchk GET /readyz${redispatches ? "\n  option redispatch 1\n  retry-on conn-failure empty-response" : ""}
  default-server check inter 250ms fastinter 100ms fall 2 rise 1
${ports.map((each) => `  server s${each} 127.0.0.1:${each}`).join("\n")}
`;
}
