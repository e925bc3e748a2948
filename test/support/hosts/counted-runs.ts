import type { TestContext } from "node:test";
import { testApp, type TestApp } from "../app.ts";
import { rentAndRun } from "../rentals.ts";

/** A market with one host and a renter who runs one GPU of it. */
export async function running(t: TestContext, options: Readonly<Record<string, unknown>> = {}) {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, options);
  const tell = (
    runningMs: number,
    more: { generation?: number; state?: "running" | "stopped"; bytes?: number } = {},
  ) => {
    const { generation = 1, state = "running", bytes = 0 } = more;
    const counters = { running_ms: runningMs, received_bytes: bytes, sent_bytes: 0 };
    return host.report([{ instance_id: id, generation, state, status_msg: "told", counters }]);
  };
  return { world, host, user, id, tell, counted: (generation = 1) => countedOf(world, id, generation) };
}

/** The counted running time of a run, in milliseconds. */
export async function countedOf({ env }: TestApp, id: number, generation: number): Promise<number> {
  const { rows } = await env.pool.query(
    "select running_ms from instance_runs where instance_id = $1 and generation = $2",
    [id, generation],
  );
  return Number(rows[0]?.running_ms);
}
