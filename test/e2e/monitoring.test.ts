// Promises of deploy/monitoring, held by a real Prometheus that watches a real server with simulated hosts.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { discard, run, startBerth, untilOffered, type Berth } from "../support/berth.ts";
import { freePort } from "../support/network/free-port.ts";
import { until } from "../support/until.ts";

const FILES = path.join(import.meta.dirname, "../../deploy/monitoring");
const METRICS_DOC = path.join(import.meta.dirname, "../../docs/operate/metrics.md");
const SCOPE = '{"api":{"misc":{"api.metrics":{}}}}';

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };
type Series = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };
type QueryAnswer = {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly Series[] };
};
type RuleGroup = {
  readonly rules: readonly { readonly query: string; readonly name: string; readonly state: string }[];
};

/** Names of metrics in an expression: what stands before a selector or a range, and is no function or label. */
function metricsIn(expression: string): readonly string[] {
  const withoutLabels = expression.replace(/"[^"]*"/g, "").replace(/\b(by|without)\s*\([^)]*\)/g, "");
  return [...withoutLabels.replace(/\{[^}]*\}/g, "").matchAll(/\b(?:berth|nodejs|process)_\w+|\bup\b/g)].map(
    ([name]) => name,
  );
}

/** Names that a scrape has, as its types say: those without a series yet are among them. */
function namesIn(scrape: string): ReadonlySet<string> {
  const declared = [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [name, `${name}_count`, `${name}_sum`, `${name}_bucket`] : [name],
  );
  return new Set(["up", ...declared]);
}

describe("deploy/monitoring", () => {
  let berth: Berth;
  let key = "";
  let folder = "";
  let prometheus: ChildProcess | undefined;
  let url = "";

  before(async () => {
    berth = await startBerth({ args: ["--simulate", "2", "--no-console"] });
    await untilOffered(berth, 2);
    const made = await berth.admin("key", "create", "admin@localhost.localdomain", "--permissions", SCOPE);
    key = String(made["api_key"] ?? made["key"]);
    folder = await mkdtemp(path.join(tmpdir(), "berth-prometheus-"));
    const given = await readFile(path.join(FILES, "prometheus.yml"), "utf8");
    const config = given
      .replace("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s")
      .replace("127.0.0.1:8080", new URL(berth.url).host);
    await writeFile(path.join(folder, "prometheus.yml"), config);
    await writeFile(path.join(folder, "metrics.key"), key);
    await copyFile(path.join(FILES, "alerts.yml"), path.join(folder, "alerts.yml"));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      "prometheus",
      ["--config.file=prometheus.yml", "--storage.tsdb.path=data", `--web.listen-address=127.0.0.1:${port}`],
      { cwd: folder, stdio: "ignore" },
    );
    await until("Prometheus to have read the server", async () => {
      const [up] = await query("up").catch(() => []);
      return up?.value[1] === "1";
    });
  });
  after(async () => {
    if (prometheus?.exitCode === null) {
      const exited = once(prometheus, "exit");
      prometheus.kill("SIGKILL");
      await exited;
    }
    await discard(berth);
    await rm(folder, { recursive: true, force: true });
  });

  async function query(expression: string): Promise<readonly Series[]> {
    const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`);
    const answer = (await response.json()) as QueryAnswer;
    assert.equal(answer.status, "success", `${expression}: ${answer.error}`);
    return answer.data.result;
  }

  const scrape = async () => (await berth.call("GET", "/metrics", { key })).text;

  test("a key that is narrowed to the metrics reads them, and nothing else", async () => {
    assert.equal((await berth.call("GET", "/metrics", { key })).status, 200);
    assert.equal((await berth.call("GET", "/api/v0/admin/overview/", { key })).status, 403);
    assert.equal((await berth.call("GET", "/api/v0/instances/", { key })).status, 403);
    const { body } = await berth.call("POST", "/api/v0/auth/apikeys/", {
      key: berth.adminKey,
      body: { name: "all of misc", permissions: { api: { misc: {} } } },
    });
    assert.equal((await berth.call("GET", "/metrics", { key: String(body.key ?? body.api_key) })).status, 403);
  });

  test("every expression of the dashboard and of the alerts is answered from metrics that the server has", async () => {
    const names = namesIn(await scrape());
    const { panels } = JSON.parse(await readFile(path.join(FILES, "grafana.json"), "utf8")) as {
      panels: readonly Panel[];
    };
    const shown = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    const rules = (await (await fetch(`${url}/api/v1/rules`)).json()) as { data: { groups: readonly RuleGroup[] } };
    const alerts = rules.data.groups.flatMap(({ rules: all }) =>
      all.map((rule) => ({ title: rule.name, expr: rule.query })),
    );
    assert.ok(shown.length > 30 && alerts.length > 10);
    for (const { title, expr } of [...shown, ...alerts]) {
      const unknown = metricsIn(expr).filter((name) => !names.has(name));
      assert.ok(metricsIn(expr).length > 0, `${title}: no metric in ${expr}`);
      assert.deepEqual(unknown, [], `${title}: ${expr}`);
      await query(expr);
    }
    const firing = rules.data.groups.flatMap(({ rules: all }) => all.filter(({ state }) => state === "firing"));
    assert.deepEqual(firing, [], "no alert fires while all is well");
  });

  test("figures follow the market: a rental shows in GPUs, instances, requests and refusals", async () => {
    const { body: found } = await berth.call("POST", "/api/v0/bundles/", { body: { limit: 1 } });
    const offerId = found.offers[0].id;
    const order = { image: "ubuntu:24.04", disk: 16 };
    const rent = () => berth.call("PUT", `/api/v0/asks/${offerId}/`, { key: berth.adminKey, body: order });
    assert.equal((await rent()).status, 200);
    assert.ok((await rent()).status >= 400, "an offer that is rented");
    await until("the running instance in Prometheus", async () => {
      const [running] = await query('berth_instances{phase="running"}');
      return running?.value[1] === "1";
    });
    await until("its GPUs", async () => {
      const [rented] = await query('sum(berth_model_gpus{state="rented"})');
      return Number(rented?.value[1] ?? 0) === found.offers[0].num_gpus;
    });
    await until("the refusal", async () => (await query("berth_rent_refusals_total > 0")).length > 0);
    const [held] = await query('berth_money_dollars{kind="held"}');
    assert.ok(Number(held?.value[1]) > 0, "money is held for the rental");
  });

  test("the alerts fire on what they are for, by their own tests", async () => {
    for (const args of [
      ["check", "rules", path.join(FILES, "alerts.yml")],
      ["check", "config", path.join(FILES, "prometheus.yml"), "--syntax-only"],
      ["test", "rules", path.join(FILES, "alerts.test.yml")],
    ]) {
      const { code, stdout, stderr } = await run("promtool", args);
      assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    }
  });

  test("docs/operate/metrics.md has every metric of Berth with its help, and no other", async () => {
    const text = await scrape();
    const help = new Map(
      [...text.matchAll(/^# HELP (berth_\S+) (.*)$/gm)].map(([, name = "", words = ""]) => [name, words]),
    );
    const rows = new Map(
      [...(await readFile(METRICS_DOC, "utf8")).matchAll(/^\| `(berth_\w+)`[^|]*\| ([^|]*?) *\|/gm)].map(
        ([, name = "", words = ""]) => [name, words.replaceAll("&#124;", "|")],
      ),
    );
    assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(help));
  });
});
