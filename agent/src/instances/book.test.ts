import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { ContainerBook } from "./book.ts";
import type { Container } from "../engine/engine.ts";
import { LABEL_INSTANCE, settledName } from "./identity.ts";
import type { Notes } from "./notes.ts";

const STARTED_MS = 1_000_000;

function container(changes: Partial<Container> = {}): Container {
  return {
    id: "one",
    name: settledName(7, 1),
    labels: { [LABEL_INSTANCE]: "7" },
    phase: "running",
    exitCode: null,
    startedAtMs: STARTED_MS,
    finishedAtMs: null,
    ports: [],
    network: null,
    layerDirectory: null,
    ...changes,
  };
}

function ended(atMs: number, changes: Partial<Container> = {}): Container {
  return container({ phase: "exited", exitCode: 137, finishedAtMs: atMs, ...changes });
}

function notes(changes: Partial<Notes>): Notes {
  const lease = { grantedAtMs: 0, leaseMs: 1 };
  const nothing = { halted: {}, meters: {}, images: {}, keys: {}, guardedImages: [], pulledImages: {} };
  return { bootId: "old boot", lease, running: ["one"], ...nothing, ...changes };
}

describe("the last word about a run that is over", () => {
  const clock = new ManualClock();
  const running = (own: Partial<Container> = {}) => container({ startedAtMs: clock.now().getTime() - 9_000, ...own });
  const told = (book: ContainerBook) =>
    [...book.meters.finals().values()].map((one) => [one.state, one.counters.runningMs]);

  it("is told by the next agent too, until it is acknowledged", () => {
    const first = new ContainerBook(clock, "boot", undefined);
    first.adoptAll([running()]);
    first.drop("one");
    const next = new ContainerBook(clock, "boot", notes({ bootId: "boot", ...first.notes() }));
    next.adoptAll([]);
    assert.deepEqual(told(next), [["absent", 9_000]]);
    next.meters.forget(["7:1"]);
    const last = new ContainerBook(clock, "boot", notes({ bootId: "boot", ...next.notes() }));
    assert.deepEqual(told(last), []);
  });

  it("is what was noted of it, if the agent ended before it could note more", () => {
    const first = new ContainerBook(clock, "boot", undefined);
    first.adoptAll([running()]);
    const next = new ContainerBook(clock, "boot", notes({ bootId: "boot", ...first.notes() }));
    next.adoptAll([running({ name: settledName(7, 2), startedAtMs: clock.now().getTime() })]);
    assert.deepEqual(told(next), [["stopped", 9_000]]);
  });
});

describe("what ended a container", () => {
  const clock = new ManualClock();
  const bootedAtMs = () => clock.now().getTime() - clock.monotonicMs();
  const before = () => bootedAtMs() - 60_000;
  const haltOf = (book: ContainerBook) => book.halted.get("one");

  it("a reboot of the host: what ran before it goes on", () => {
    const book = new ContainerBook(clock, "new boot", notes({}));
    book.adoptAll([ended(before() + 1, { startedAtMs: before() })]);
    assert.equal(haltOf(book), "the host was rebooted");
  });

  it("a reboot of the host: it has run for as long as an agent saw it, whenever the engine says that it ended", () => {
    const run = { runningMs: 4_000, receivedBytes: 0, sentBytes: 0 };
    const carried = { runningMs: 0, receivedBytes: 0, sentBytes: 0 };
    const meters = { "7:1": { carried, runKey: `one@${before()}`, startedAtMs: before(), run } };
    const seen = ended(bootedAtMs() + 500, { startedAtMs: before() });
    const first = new ContainerBook(clock, "new boot", notes({ meters }));
    first.adoptAll([seen]);
    first.countAll();
    assert.equal(first.counters(7, 1).runningMs, 4_000);
    const next = new ContainerBook(clock, "new boot", notes({ ...first.notes(), bootId: "new boot" }));
    next.adoptAll([seen]);
    assert.equal(next.counters(7, 1).runningMs, 4_000);
  });

  it("a reboot of the host: of a run that began after the last note nothing is counted, and it goes on", () => {
    const seen = ended(bootedAtMs() + 500, { startedAtMs: before() });
    const first = new ContainerBook(clock, "new boot", notes({ running: [], halted: { one: "lease expired" } }));
    first.adopt(seen);
    first.adoptAll([seen]);
    assert.equal(first.counters(7, 1).runningMs, 0);
    const next = new ContainerBook(clock, "new boot", notes({ ...first.notes(), bootId: "new boot" }));
    next.adoptAll([seen]);
    assert.equal(next.counters(7, 1).runningMs, 0);
    assert.equal(haltOf(next), "the host was rebooted");
  });

  it("a reboot of the host: that is remembered by the next agent too when the container is about to be removed", () => {
    const seen = ended(bootedAtMs() + 500, { startedAtMs: before() });
    const first = new ContainerBook(clock, "new boot", notes({}));
    first.adoptAll([seen]);
    first.halt("one", "removed");
    const next = new ContainerBook(clock, "new boot", notes({ ...first.notes(), bootId: "new boot" }));
    next.adoptAll([seen]);
    next.halt("one", "removed");
    next.adopt(seen);
    assert.equal(next.counters(7, 1).runningMs, 0, "the engine's word for its end is no time that it ran");
  });

  it("by itself, if it had ended before the reboot, or there was none", () => {
    const counted = { runningMs: 1, receivedBytes: 0, sentBytes: 0 };
    const zero = { runningMs: 0, receivedBytes: 0, sentBytes: 0 };
    const meters = {
      "7:1": { carried: zero, runKey: `one@${before()}`, startedAtMs: before(), run: counted },
    };
    const cases: readonly [string, Notes, Container][] = [
      ["new boot", notes({ running: [], meters }), ended(before() + 1, { startedAtMs: before() })],
      ["old boot", notes({}), ended(before() + 1, { startedAtMs: before() })],
    ];
    for (const [bootId, noted, seen] of cases) {
      const book = new ContainerBook(clock, bootId, noted);
      book.adoptAll([seen]);
      assert.equal(haltOf(book), undefined);
    }
  });

  it("by itself, once it was started after the reboot, by the agent or by somebody else", () => {
    const started = (book: ContainerBook) => {
      book.adoptAll([ended(before() + 1, { startedAtMs: before() })]);
      book.unhalt("one");
    };
    for (const run of [started, (book: ContainerBook) => book.adoptAll([container()])]) {
      const book = new ContainerBook(clock, "new boot", notes({}));
      run(book);
      book.adoptAll([ended(bootedAtMs() + 2, { startedAtMs: bootedAtMs() + 1 })]);
      assert.equal(haltOf(book), undefined);
    }
  });

  it("a restart of the engine: what it ended, shortly before it fell silent or later, goes on", async () => {
    for (const [endedMs, expected] of [
      [-5_000, "the container engine was restarted"],
      [3_000, "the container engine was restarted"],
      [-60_000, undefined],
    ] as const) {
      const book = new ContainerBook(clock, "boot", undefined);
      book.adoptAll([container()]);
      book.engineLost();
      const lostMs = clock.now().getTime();
      book.adoptAll([ended(lostMs + endedMs)]);
      assert.equal(haltOf(book), expected);
    }
  });

  it("once the engine is back, an end is its own again", () => {
    const book = new ContainerBook(clock, "boot", undefined);
    book.engineLost();
    book.adoptAll([container()]);
    book.adoptAll([ended(clock.now().getTime())]);
    assert.equal(haltOf(book), undefined);
  });
});

describe("a reading of a running container", () => {
  it("names its own address where it has one", () => {
    const clock = new ManualClock();
    const reading = { receivedBytes: 0, sentBytes: 0, cpuPercent: 5, memoryBytes: 7 };
    const networks = [{ ipAddress: "172.18.0.5", namespacePath: "/proc/1/ns/net" }, null];
    const seen = networks.map((network) => {
      const book = new ContainerBook(clock, "boot", undefined);
      book.adoptAll([container({ network })]);
      const own = book.get("one");
      assert.ok(own !== undefined);
      book.use(own, reading, 9);
      return book.usageOf(own);
    });
    const use = { cpuPercent: 5, memoryBytes: 7, diskBytes: 9 };
    assert.deepEqual(seen, [{ ...use, ipAddress: "172.18.0.5" }, use]);
  });
});
