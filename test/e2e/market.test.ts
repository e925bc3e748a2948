// Two renters and one machine with two GPUs, by curl and by `./berth`: on demand, two bids, a raise, a displacement with
// its notice, a resumption. The GPUs are declared, the containers real. What has to leave says when it is done, so that
// nobody waits for the end of a notice.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { aRenter, type Renter, type Shown } from "../support/renter.ts";
import { NO_TRACES, startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const RULES = { BERTH_DECLARE_GPUS: "RTX 4090:2", BERTH_NOTICE_SECONDS: "600", BERTH_MIN_SLICE_SECONDS: "1" };
const ONE_GPU = { num_gpus: { eq: 1 } };
const FIRST_BID = 0.25;
const HIGHER_BID = 0.3;
/** The smallest that beats it. */
const HIGHEST_BID = 0.301;

/** A program that ends at once when it is told to leave. */
const POLITE = "trap 'exit 0' TERM; while true; do sleep 0.1; done";
/** A program that counts on from its saved checkpoint. */
const COUNTING = [
  "echo started >> /root/starts; n=$(cat /root/saved 2>/dev/null || echo 0)",
  "while true; do n=$((n+1)); echo $n > /root/count; sleep 0.1; done",
].join("\n");
const CHECKPOINT = "cp /root/count /root/saved; while [ ! -e /root/go ]; do sleep 0.1; done";
const HOUR_MS = 3_600_000;
const ADDRESS = "http://127.0.0.1:7411/interruption";

type Bidding = Shown & {
  readonly cur_state: string;
  readonly intended_status: string;
  readonly next_state: string;
  readonly is_bid: boolean;
  readonly min_bid: number;
  readonly interruption: { readonly reason: string; readonly stops_at: number; readonly bid_to_run_now: number } | null;
  readonly waiting_for: Readonly<Record<string, unknown>> | null;
};
type Event = { readonly at: number; readonly cause: string; readonly from: string | null; readonly to: string };

type Charge = {
  readonly type: string;
  readonly service: string;
  readonly instance_id: number;
  readonly amount: number;
};

describe("two renters on a machine with two GPUs", () => {
  let machine: ThisMachine;
  let a: Renter;
  let b: Renter;
  /** Instances of the first renter, on demand and with a bid; of the second one, with a bid and on demand. */
  let [onDemand, strong, weak, late] = [0, 0, 0, 0];
  const cleanups: (() => Promise<unknown>)[] = [];

  const record = async (by: Renter, id: number): Promise<Bidding> =>
    (await by.done("GET", `/api/v0/instances/${id}/`)).instances;
  const events = async (by: Renter, id: number): Promise<readonly Event[]> =>
    (await by.done("GET", `/api/v0/instances/${id}/events/`)).events.toReversed();
  const causes = async (by: Renter, id: number) => (await events(by, id)).map(({ cause }) => cause);
  /** The bid that `./berth search` says is enough for one GPU now, and the offer. */
  const bidOffer = async (by: Renter) => {
    const found = JSON.parse(await by.told("search", "--interruptible", "num_gpus=1", "--json"));
    assert.equal(found.offers.length, 1, JSON.stringify(found));
    return found.offers[0] as { readonly id: number; readonly min_bid: number };
  };
  /** Rents by command. The search may still show an offer rented a moment ago: the caller then searches again. */
  const rentByCommand = (by: Renter, find: () => Promise<number>, ...words: readonly string[]): Promise<number> =>
    until("a rental", async () => {
      const what = ["--image", machine.image, "--disk", "8", "--json", ...words];
      return JSON.parse(await by.told("rent", String(await find()), ...what)).new_contract;
    });
  /**
   * Checks that each instance was charged for the time of each of its runs at that run's price, and that it ran no
   * longer than it had its devices, up to its host's report that it had stopped.
   */
  const checkCharges = (by: Renter, prices: Readonly<Record<number, readonly number[]>>) =>
    until("the last charge", async () => {
      const { invoices } = await by.done("GET", "/api/v0/users/me/invoices/?inc_charges=true");
      for (const [id, perHour] of Object.entries(prices)) {
        const charges: readonly Charge[] = invoices.filter(
          ({ type, service, instance_id }: Charge) =>
            type === "charge" && service === "gpu" && instance_id === Number(id),
        );
        const runs = await machine
          .berth()
          .sql("select running_ms from instance_runs where instance_id = $1 order by generation", [id]);
        const hours = runs.map((run) => Number(run["running_ms"]) / HOUR_MS);
        assert.equal(hours.length, perHour.length);
        const owed = hours.map((time, index) => time * (perHour[index] ?? 0));
        assert.ok(Math.abs(sum(charges.map(({ amount }) => amount)) - sum(owed)) < 1e-6, JSON.stringify(charges));
        assert.ok(hours.every((time) => time > 0));
        assert.ok(sum(hours) * HOUR_MS <= heldMs(await events(by, Number(id))));
      }
      return true;
    });
  const fileOf = (instance: Shown, file: string) => b.inside(instance, `cat ${file}`).then((text) => text.trim());

  before(async () => {
    machine = await startThisMachine(31_700, RULES);
    cleanups.push(() => machine.close());
    for (const name of ["first", "second"]) {
      const renter = await aRenter(machine, name);
      cleanups.push(() => renter.close());
      [a, b] = [a ?? renter, renter];
    }
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("one rents a GPU on demand, the other one bids for the second, and both run", async () => {
    onDemand = await a.rent({ runtype: "args", onstart: POLITE }, ONE_GPU);
    weak = await rentByCommand(
      b,
      async () => (await bidOffer(b)).id,
      ...["--price", String(FIRST_BID), "--runtype", "ssh_direct", "--onstart", COUNTING],
      ...["--env", `-e CHECKPOINT_COMMAND="${CHECKPOINT}"`],
    );
    await a.untilStatus(onDemand, "running");
    await b.untilStatus(weak, "running");
    const { is_bid, interruption, waiting_for } = await record(b, weak);
    assert.deepEqual([is_bid, interruption, waiting_for], [true, null, null]);
    assert.match(await b.told("show", String(weak)), /^bid +\$0\.25 per hour; \$0\.\d+ is enough to run now$/m);
    assert.equal((await record(a, onDemand)).is_bid, false);
  });

  test("an outbid instance reads its notice inside, in its record and at the prompt, and runs on until its checkpoint is done", async () => {
    const running = await record(b, weak);
    await until("it counts", async () => Number(await fileOf(running, "/root/count")) > 0);
    assert.equal((await bidOffer(a)).min_bid, FIRST_BID + 0.001);
    const body = { runtype: "args", onstart: POLITE, price: HIGHER_BID };
    strong = await a.rent(body, { ...ONE_GPU, type: "bid" });

    const told = await record(b, weak);
    assert.ok(told.interruption !== null);
    assert.deepEqual([told.interruption.reason, told.interruption.bid_to_run_now], ["outbid", HIGHEST_BID]);
    assert.deepEqual([told.actual_status, told.cur_state, told.next_state], ["running", "running", "stopped"]);
    assert.match(String(told.status_msg), /^outbid: stops in \d+ s; its data is kept and it resumes by itself$/);
    const shown = await b.told("show", String(weak));
    assert.match(shown, new RegExp(`^notice +outbid; stops in \\d+ min, stays with: berth bid ${weak} 0.301$`, "m"));
    assert.match(await b.told("instances"), /running .* stops in \d+ min: outbid$/m);
    assert.match(await a.told("show", String(strong)), /^waits for +its devices are not free yet/m);

    const file = await until("the file inside", () => fileOf(told, "/run/berth/interruption.json"));
    const answer = await until("the address inside", () => b.inside(told, `wget -q -O - ${ADDRESS}`));
    assert.deepEqual(JSON.parse(answer), JSON.parse(file));
    assert.equal(JSON.parse(file).reason, "outbid");
    await until("the checkpoint", () => fileOf(told, "/root/saved"));
    assert.equal((await record(b, weak)).actual_status, "running");

    await b.inside(told, "touch /root/go");
    await a.untilStatus(strong, "running");
    const left = (await events(b, weak)).findLast(({ from }) => from === "yielding");
    assert.ok(left !== undefined && left.at < told.interruption.stops_at, "it left before the end of its notice");
  });

  test("it keeps its data, knows what it waits for, bids exactly that, and resumes while the other one leaves in turn", async () => {
    const waits = await record(b, weak);
    assert.deepEqual(
      [waits.actual_status, waits.cur_state, waits.intended_status, waits.next_state],
      ["stopped", "stopped", "stopped", "stopped"],
    );
    assert.match(String(waits.status_msg), /^outbid: .*\$0\.301 an hour would run now$/);
    assert.partialDeepStrictEqual(waits.waiting_for, {
      ...{ reason: "outbid", ahead: 0, winning_bid: HIGHER_BID, bid_to_run_now: HIGHEST_BID },
    });
    const files = await b.told("execute", String(weak), "ls /root");
    for (const name of ["saved", "count", "starts"]) assert.match(files, new RegExp(`^${name}$`, "m"));
    assert.match(
      await b.told("show", String(weak)),
      /^waits for +outbid by \$0\.30 per hour; .*: berth bid \d+ 0\.301$/m,
    );

    const enough = String(waits.waiting_for?.["bid_to_run_now"]);
    assert.match(await b.told("bid", String(weak), enough), /bids \$0\.3010 per hour now/);
    const running = await b.untilStatus(weak, "running");
    const saved = Number(await fileOf(running, "/root/saved"));
    assert.ok(saved > 0);
    await until("it goes on counting", async () => Number(await fileOf(running, "/root/count")) > saved);
    assert.equal(await fileOf(running, "/root/starts"), "started\nstarted");
    assert.equal(await b.inside(running, "test -e /run/berth/interruption.json || echo none"), "none\n");
    const other = await record(a, strong);
    assert.deepEqual([other.actual_status, other.interruption], ["stopped", null]);
    assert.partialDeepStrictEqual(other.waiting_for, { reason: "outbid", winning_bid: HIGHEST_BID });
    assert.deepEqual((await record(b, weak)).waiting_for, null);
  });

  test("a GPU that an on-demand rental leaves goes to the bid that waits, by itself", async () => {
    await a.told("destroy", String(onDemand));
    await a.untilStatus(strong, "running");
    assert.equal((await record(b, weak)).actual_status, "running");
    assert.match(await a.told("events", String(strong)), /scheduled +starting +It has its devices and starts\.$/m);
  });

  test("an on-demand rental takes GPUs that bids have, from the lowest of them", async () => {
    late = await rentByCommand(b, () => b.anOffer(ONE_GPU), "--runtype", "args", "--onstart", POLITE);
    await b.untilStatus(late, "running");
    const { actual_status, waiting_for } = await record(a, strong);
    assert.equal(actual_status, "stopped");
    assert.partialDeepStrictEqual(waiting_for, { reason: "outbid", winning_bid: HIGHEST_BID });
    assert.deepEqual((await record(b, weak)).interruption, null);
  });

  test("the history of each tells the story", async () => {
    const outbid = ["container_running", "outbid", "container_stopped"];
    const again = ["devices_granted", "container_running"];
    assert.deepEqual(await causes(b, weak), ["created", ...outbid, ...again]);
    assert.deepEqual(await causes(a, strong), [
      "created",
      "devices_granted",
      ...outbid,
      ...again,
      "on_demand",
      "container_stopped",
    ]);
  });

  test("each has paid for the time in which it ran, and in the end nothing is left", async () => {
    await Promise.all([a.destroy(strong), b.destroy(weak), b.destroy(late)]);
    await checkCharges(a, { [onDemand]: [0.45], [strong]: [HIGHER_BID, HIGHER_BID] });
    await checkCharges(b, { [weak]: [FIRST_BID, HIGHEST_BID], [late]: [0.45] });
    await until("no trace of a rental", async () => {
      assert.deepEqual(await machine.traces(), NO_TRACES);
      return true;
    });
    await a.anOffer({ num_gpus: { eq: 2 } });
  });
});

/** The time for which an instance had devices: from each possible start to the known stop. */
function heldMs(events: readonly Event[]): number {
  let [held, since] = [0, 0];
  for (const { at, to } of events) {
    if (to === "starting") since = at;
    if (to === "scheduled" || to === "ended") {
      held += since === 0 ? 0 : at - since;
      since = 0;
    }
  }
  return held * 1000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
