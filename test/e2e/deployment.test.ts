// Code that is uploaded once and runs on the workers of an endpoint: each fetches it by its own key, through its host.
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { docker, fillWithBusybox, imageOf } from "../support/hosts/docker.ts";
import { aRenter, untilUntouched, type Renter } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

/** The entry point that docs/deployments.md shows, which then runs the code. */
const ENTRY = `#!/bin/sh
address=$(wget -qO- --header "Authorization: Bearer $CONTAINER_API_KEY" \\
  "$VAST_API_URL/api/v0/deployment/$DEPLOYMENT_ID/download_url/" | sed 's/.*"download_url":"\\([^"]*\\)".*/\\1/')
wget -qO- "$address" | tar -xz -C /
exec sh /opt/app/run.sh
`;

describe("a deployment", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let folder: string;
  const cleanups: (() => Promise<unknown>)[] = [];

  before(async () => {
    machine = await startThisMachine(31_800);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "deployment");
    cleanups.push(() => renter.close());
    folder = await mkdtemp(path.join(tmpdir(), "berth-code-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("runs on a worker that fetched it by its own key, and goes with everything it was given", async () => {
    const image = await imageOf("berth-test/fetching:1", ["ENV PATH=/bin", 'CMD ["/bin/entry"]'], async (root) => {
      await fillWithBusybox(root);
      await writeFile(path.join(root, "bin/entry"), ENTRY);
      await chmod(path.join(root, "bin/entry"), 0o755);
    });
    await mkdir(path.join(folder, "opt/app"), { recursive: true });
    await writeFile(path.join(folder, "opt/app/run.sh"), "echo the code of $DEPLOYMENT_ID runs; exec sleep 86400\n");
    const scaling = ["--min-load", "1", "--cold-workers", "1", "--max-workers", "1"];
    const machines = ["--search", `machine_id=${machine.machineId} cpu_cores_effective<=1`, "--disk", "10"];
    await renter.told("deployment", "deploy", folder, "--name", "app", "--image", image, ...machines, ...scaling);
    const [deployment] = JSON.parse(await renter.told("deployment", "list", "--json")).deployments;
    const worker = await until("a worker", async () => {
      const { instances } = await renter.done("GET", "/api/v1/instances/");
      const [first] = instances;
      return first?.actual_status === "running" ? Number(first.id) : undefined;
    });
    const container = await machine.containerOf(worker);
    await until("the code runs", async () => {
      assert.equal((await docker("logs", container)).trim(), `the code of ${deployment.id} runs`);
      return true;
    });
    await renter.told("deployment", "delete", String(deployment.id));
    await untilUntouched(machine, renter);
  });
});
