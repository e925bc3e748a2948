// Rentals of the seeded market: weeks of them, and the hour before somebody looks.
import { settleNow } from "../../money/charges.ts";
import { aMeasurement, tell } from "../../hosts/measuring.ts";
import { rent, rentAndRun, setState } from "../../rentals.ts";
import type { FakeHost } from "../../hosts/fake-host.ts";
import type { TestApp } from "../../app.ts";
import { STEP_MS } from "./serving.ts";
import type { TestCaller } from "../../fixtures.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const GIB = 2 ** 30;
/** Hosts measure every ten seconds. */
const STEPS_A_MINUTE = 6;
const PYTORCH = "pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime";

export type Renters = Readonly<Record<"mira" | "jonas" | "priya", TestCaller>>;
export type Rentals = Readonly<Record<"trainer" | "notebook" | "sweep" | "evaluation" | "render" | "agents", number>>;

/** Rentals that begin long before somebody looks. */
export async function rentLong(app: TestApp, { mira, jonas }: Renters, hosts: readonly FakeHost[]) {
  const [fjord4090, , fjord3090, a6000, , mtl4090] = must(hosts);
  const common = { image: PYTORCH, runtype: "jupyter_direct ssh_direct", env: "-p 6006:6006", disk: 120 };
  const trainer = await rentAndRun(app, mira, fjord4090, { ...common, size: 2, label: "trainer" });
  const notebook = await rentAndRun(app, mira, fjord3090, { ...common, disk: 60, label: "notebook" });
  const render = await rentAndRun(app, mira, a6000, {
    ...{ image: "linuxserver/blender:4.5", runtype: "ssh_direct", size: 2, disk: 200, label: "render farm" },
  });
  const agents = await rentAndRun(app, jonas, mtl4090, { ...common, size: 4, label: "agents" });
  return { trainer, notebook, render, agents };
}

/** Lets the time pass in steps after each of which the hosts report and what is due is paid. */
export async function passTime(app: TestApp, hosts: readonly FakeHost[], ms: number, stepMs: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    app.clock.jump(Math.min(stepMs, leftMs));
    for (const host of hosts) await (host.desired?.instances.length === 0 ? host.report([]) : host.count());
    await settleNow(app);
    for (const loop of ["sample-market", "add-up-charges", "add-up-earnings"]) await app.runLoop(loop);
  }
}

/** The changes of an hour ago: one instance is stopped, and a bid begins to run. */
export async function changeRentals(
  app: TestApp,
  { mira }: Renters,
  hosts: readonly FakeHost[],
  long: Pick<Rentals, "notebook">,
): Promise<number> {
  const [, , fjord3090, , , , tatra5090] = must(hosts);
  await setState(app, mira, long.notebook, "stopped");
  await fjord3090.obey();
  return rentAndRun(app, mira, tatra5090, {
    ...{ image: PYTORCH, size: 2, price: 0.8, disk: 40, label: "sweep 14" },
  });
}

/** The changes of this moment: the bid is outbid, and another instance pulls its image. */
export async function happenNow(app: TestApp, { mira, priya }: Renters, hosts: readonly FakeHost[]): Promise<number> {
  const [, , , , , , tatra5090, , , dallas] = must(hosts);
  await rentAndRun(app, priya, tatra5090, { image: PYTORCH, size: 2, price: 1.1, disk: 40, label: "priya" });
  const evaluation = await rent(app, mira, dallas, {
    ...{
      image: "vllm/vllm-openai:v0.11.0",
      runtype: "ssh_direct",
      env: "-p 8000:8000",
      disk: 160,
      label: "evaluation",
    },
  });
  await dallas.synced();
  const pull = { done_bytes: 3_100_000_000, total_bytes: 8_400_000_000, bytes_per_second: 212_000_000 };
  await dallas.report(
    dallas.obedience().map((one) => ({
      ...one,
      state: "pulling",
      status_msg: "pulling vllm/vllm-openai:v0.11.0",
      pull,
      ports: {},
      counters: { running_ms: 0, received_bytes: 0, sent_bytes: 0 },
    })),
  );
  return evaluation;
}

/** Minutes in which hosts measure what their instances use. */
export async function measureMinutes(
  app: TestApp,
  watched: readonly { readonly host: FakeHost; readonly ids: readonly number[] }[],
  minutes: number,
  /** Called every twenty seconds with the time since the beginning. */
  meanwhile: (pastMs: number) => Promise<void>,
): Promise<void> {
  for (let step = 0; step < minutes * STEPS_A_MINUTE; step += 1) {
    for (const { host, ids } of watched) {
      const minute = step / STEPS_A_MINUTE;
      const wave = Math.sin(minute / 5) * 8 + Math.sin(minute * 1.7) * 4;
      const isLoading = minute % 23 < 1.5;
      const gpus = host.gpus.map((_, index) => ({
        utilization_percent: isLoading ? 12 : Math.round(86 + wave - index * 3),
        used_memory_mb: Math.round(18_200 + wave * 40),
        temperature_c: Math.round(67 + wave / 2 + index),
        power_w: Math.round(360 + wave * 5),
      }));
      const use = {
        cpu_percent: isLoading ? 2_640 : Math.round(1_310 + wave * 39),
        memory_bytes: Math.round((41 + wave / 6) * GIB),
        disk_bytes: Math.round((58 + minute / 40) * GIB),
        received_bytes_per_s: isLoading ? 182_000_000 : 1_400_000,
        sent_bytes_per_s: Math.round(640_000 + wave * 20_000),
      };
      const instances = Object.fromEntries(ids.map((id) => [id, use]));
      const machine = { ...use, cpu_percent: (use.cpu_percent ?? 0) * 2, disk_bytes: 900 * GIB };
      await tell(host, aMeasurement(host, { machine, gpus, instances }));
    }
    await app.runLoop("store-measurements");
    app.clock.jump(MINUTE_MS / STEPS_A_MINUTE);
    const pastMs = ((step + 1) * MINUTE_MS) / STEPS_A_MINUTE;
    if (pastMs % STEP_MS === 0) await meanwhile(pastMs);
  }
}

/** The hosts by their places in the list of machines. */
function must(hosts: readonly FakeHost[]) {
  const [a, b, c, d, e, f, g, h, i, j] = hosts;
  if (!a || !b || !c || !d || !e || !f || !g || !h || !i || !j) throw new Error("the market has too few machines");
  return [a, b, c, d, e, f, g, h, i, j] as const;
}
