// Two servers over one PostgreSQL and hosts that know both: either is killed, at random moments and for good.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CrashClients } from "../support/crash/clients.ts";
import { crashTable, killLine } from "../support/crash/report.ts";
import { crashUnderLoad, SEVERAL_KILLS } from "../support/crash/run.ts";
import { CrashWorld, killServer, restartServer } from "../support/crash/world.ts";
import { seededRandom } from "../support/random.ts";
import { TEST_SEED } from "../support/seed.ts";
import { until } from "../support/until.ts";

const KILLS = Number(process.env["BERTH_CRASH_KILLS"] ?? 2);
// An absence of all servers takes a minute.
const WEIGHTS = { ...SEVERAL_KILLS, absence: 0 };

describe("two servers over one database", () => {
  let world: CrashWorld;
  let clients: CrashClients;

  before(async () => {
    world = await CrashWorld.open(2);
    clients = await CrashClients.open(world, seededRandom(TEST_SEED + 1));
  });
  after(async () => {
    await clients.abandon();
    await world.close();
    const output = world.servers.map(({ berth }) => berth.output()).join("\n");
    // Failures caused by a killed PostgreSQL are logged as well; this check is not about them.
    const late = output.includes("driver has already been destroyed");
    assert.equal(late, false, "nothing is noted after the database was closed");
  });

  test("a host whose server is killed goes on at the other one by itself: rentable there, what runs is not touched", async () => {
    const [one, two] = world.servers;
    const [ann] = clients.users;
    assert.ok(one && two && ann);
    const machines = () =>
      world.berth.sql(
        `select m.id, m.is_connected and s.address = $1 as here from machines m left join servers s on s.id = m.server_id
         order by m.id`,
        [two.berth.url],
      );
    const machine = Number((await machines())[0]?.["id"]);
    const first = await clients.rentOf(ann, machine);
    const seen = async (id: number) =>
      (await world.berth.sql("select phase, generation, observed_state from instances where id = $1", [id]))[0];
    const isRunning = (id: number) => async () => (await seen(id))?.["phase"] === "running";
    await until("the first rental to run", isRunning(first));
    const before = await seen(first);
    await killServer(one);
    await until("the hosts to come to the other server", async () =>
      (await machines()).every(({ here }) => here === true),
    );
    const second = await clients.rentOf(ann, machine);
    await until("another rental of the same machine to run", isRunning(second));
    assert.deepEqual(await seen(first), before);
    await restartServer(one);
  });

  test(`every second that ran is charged once, over ${KILLS} kills of either under load (seed ${TEST_SEED})`, async () => {
    const tell = (news: Parameters<typeof killLine>[0]) => console.log(killLine(news, KILLS));
    const report = await crashUnderLoad({ world, clients }, { seed: TEST_SEED, kills: KILLS, weights: WEIGHTS, tell });
    console.log(crashTable(report));
    assert.deepEqual(report.problems, []);
  });
});
