import type { InstanceId, MachineId, VolumeId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listAuditedMachines, type AuditedMachine } from "../../../supply/hosts/for-audit.ts";
import {
  listAuditedPhases,
  listAuditedRuns,
  listAuditedTerms,
  listSpentTraffic,
  type AuditedPhase,
  type AuditedRun,
  type AuditedTerms,
} from "../../../rental/instances/for-audit.ts";
import { listAuditedTransfers } from "../../ledger/for-audit.ts";
import { listAuditedVolumes, type AuditedVolume } from "../../../supply/volumes/for-audit.ts";
import { COUNTED, endWalk, partsOf, timesOf, walkLine, type CounterPlace, type RunTime } from "./rules/counter-walk.ts";
import { compare, type Report, type Tally } from "../rules/difference.ts";
import { checkPayment } from "./rules/line-rules.ts";
import { checkRunEnd, endsOf } from "./rules/run-ends.ts";
import { checkRunStart, ordersOf } from "./run-starts.ts";
import { listMarks, type AuditMark, type StoredMark } from "../checkpoints/checkpoint-store.ts";
import { endStorageWalk, piecesOf, walkStorageLine, type Storage, type StoragePlace } from "./rules/storage-walk.ts";
import {
  listAuditedInstances,
  type AuditedInstance,
  listAuditedLines,
  type AuditedLine,
  type LineRange,
  sumTrafficCharges,
} from "../../charging/for-audit.ts";

const CONTRACTS_PER_PAGE = 200;
const LINES_PER_PAGE = 5_000;

/** The means of an audit of contracts (instances and volumes), and the places for its results. */
export type ContractAudit = {
  readonly db: Reader;
  readonly range: LineRange;
  /** True when it begins where charging began, rather than at the last checkpoint. */
  readonly isFull: boolean;
  readonly tally: Tally;
  /**
   * Charge lines charged before this moment lead to marks: those of the next checkpoint, or in a full audit those of
   * the last one.
   */
  readonly marksBefore: Date | undefined;
  readonly marked: (mark: AuditMark) => void;
};

/**
 * Compares the charge lines of these instances with the counters of their runs, their terms, and the times when their
 * machines were in touch.
 */
export async function auditInstances(audit: ContractAudit, ids: readonly InstanceId[]): Promise<void> {
  for (const page of pagesOf(ids)) {
    const instances = await listAuditedInstances(audit.db, page);
    const [runs, terms, phases, marks] = await Promise.all([
      listAuditedRuns(audit.db, page),
      listAuditedTerms(audit.db, page),
      listAuditedPhases(audit.db, page),
      listMarks(audit.db, "instance", page),
    ]);
    const machineIds = [...new Set([...instances.values()].map(({ machineId }) => machineId))];
    const machines = await listAuditedMachines(audit.db, machineIds, earliestOf(audit, page, marks));
    const facts = {
      runs: Map.groupBy(runs, (run) => run.instanceId),
      terms: Map.groupBy(terms, (past) => past.instanceId),
      phases: Map.groupBy(phases, (phase) => phase.instanceId),
      marks: Map.groupBy(marks, (mark) => mark.contractId),
    };
    const walks = new Map<number, Walk>();
    for (const instance of instances.values()) {
      walks.set(instance.id, walkOfInstance(audit, instance, { machines, facts }));
    }
    await walkPage(audit, "instance", page, walks);
    if (audit.isFull) await auditTraffic(audit, page);
  }
}

/** Compares the amount that counts against each traffic limit with the charges for traffic. */
async function auditTraffic({ db, tally }: ContractAudit, page: readonly InstanceId[]): Promise<void> {
  const charged = await sumTrafficCharges(db, page);
  for (const { id, spentNanos } of await listSpentTraffic(db, page)) {
    compare(reportOf(tally, `instance ${id}`), "counters", "another amount counts against its traffic limit", {
      stored: spentNanos,
      expected: charged.get(id) ?? 0n,
    });
  }
}

/** Compares the charge lines of volumes likewise; volumes are stored and never run. */
export async function auditVolumes(audit: ContractAudit, ids: readonly VolumeId[]): Promise<void> {
  for (const page of pagesOf(ids)) {
    const volumes = await listAuditedVolumes(audit.db, page);
    const marks = await listMarks(audit.db, "volume", page);
    const machineIds = [...volumes.values()].flatMap(({ machineId }) => machineId ?? []);
    const machines = await listAuditedMachines(audit.db, machineIds, earliestOf(audit, page, marks));
    const marksOf = Map.groupBy(marks, (mark) => mark.contractId);
    const walks = new Map<number, Walk>();
    for (const volume of volumes.values()) {
      walks.set(volume.id, walkOfVolume(audit, volume, { machines, marks: marksOf.get(volume.id) ?? [] }));
    }
    await walkPage(audit, "volume", page, walks);
  }
}

function pagesOf<T>(ids: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(ids.length / CONTRACTS_PER_PAGE);
  return Array.from({ length: count }, (_, index) =>
    ids.slice(index * CONTRACTS_PER_PAGE, (index + 1) * CONTRACTS_PER_PAGE),
  );
}

/** The moment from which the audit needs to know when machines were in touch; undefined for the whole history. */
function earliestOf({ isFull }: ContractAudit, page: readonly number[], marks: readonly StoredMark[]) {
  const disks = marks.filter(({ component }) => component === "disk");
  if (isFull || disks.length < page.length) return undefined;
  return new Date(Math.min(...disks.map(({ position }) => Number(position))));
}

/** Collects the charge lines of one contract in order, and checks them at its end. */
type Walk = {
  /** The renter of the contract. */
  readonly payerId: number;
  readonly machineId: MachineId | undefined;
  readonly hostId: number | undefined;
  readonly take: (line: AuditedLine) => void;
  readonly end: () => void;
};

async function walkPage(
  audit: ContractAudit,
  contract: "instance" | "volume",
  page: readonly number[],
  walks: ReadonlyMap<number, Walk>,
): Promise<void> {
  const { db, range, tally } = audit;
  let after = { contractId: 0, lineId: 0n };
  for (;;) {
    const lines = await listAuditedLines(db, { contract, ids: page, range, after, limit: LINES_PER_PAGE });
    const last = lines.at(-1);
    if (last === undefined) break;
    const transfers = await listAuditedTransfers(
      db,
      lines.flatMap(({ transferId }) => transferId ?? []),
    );
    for (const line of lines) {
      const report = reportOf(tally, `line ${line.id}`);
      checkPayment(report, line, line.transferId === undefined ? undefined : transfers.get(line.transferId));
      takeLine(audit, contract, line, walks);
    }
    for (const check of ["transfers", "terms", "intervals"] as const) tally.examine(check, lines.length);
    after = { contractId: contractOf(contract, last), lineId: last.id };
    if (lines.length < LINES_PER_PAGE) break;
  }
  for (const walk of walks.values()) walk.end();
}

function contractOf(contract: "instance" | "volume", line: AuditedLine): number {
  return (contract === "instance" ? line.instanceId : line.volumeId) ?? 0;
}

function takeLine(
  { tally }: ContractAudit,
  contract: "instance" | "volume",
  line: AuditedLine,
  walks: ReadonlyMap<number, Walk>,
): void {
  const report = reportOf(tally, `line ${line.id}`);
  const walk = walks.get(contractOf(contract, line));
  if (walk === undefined) {
    const stored = `${contract} ${contractOf(contract, line)}`;
    report("counters", { problem: `its ${contract} is not there`, stored, expected: `a known ${contract}` });
    return;
  }
  const isPlaceRight = walk.machineId === line.machineId && (walk.hostId ?? line.hostId) === line.hostId;
  if (!isPlaceRight) {
    const stored = `machine ${line.machineId ?? "-"} of user ${line.hostId}`;
    const expected = `machine ${walk.machineId ?? "-"} of user ${walk.hostId ?? "-"}`;
    report("transfers", { problem: "it was earned elsewhere", stored, expected });
  }
  compare(report, "transfers", "its contract is somebody else's", {
    stored: `user ${line.payerId}`,
    expected: `user ${walk.payerId}`,
  });
  walk.take(line);
}

export function reportOf(tally: Tally, subject: string): Report {
  return (check, difference) => tally.differ(check, { subject, ...difference });
}

type Facts = {
  readonly runs: ReadonlyMap<InstanceId, readonly AuditedRun[]>;
  readonly terms: ReadonlyMap<InstanceId, readonly AuditedTerms[]>;
  readonly phases: ReadonlyMap<InstanceId, readonly AuditedPhase[]>;
  readonly marks: ReadonlyMap<number, readonly StoredMark[]>;
};

function walkOfInstance(
  audit: ContractAudit,
  instance: AuditedInstance,
  { machines, facts }: { readonly machines: ReadonlyMap<MachineId, AuditedMachine>; readonly facts: Facts },
): Walk {
  const { id, machineId } = instance;
  const machine = machines.get(machineId);
  const marks = facts.marks.get(id) ?? [];
  const past = facts.terms.get(id) ?? [];
  const storage = walkOfStorage(audit, storageOf(instance, machine, { past, phases: facts.phases.get(id) ?? [] }), {
    contract: "instance",
    contractId: id,
    marks,
  });
  const counters = new Map<string, Pick<Walk, "take" | "end">>();
  const runs = facts.runs.get(id) ?? [];
  const times = timesOf(runs);
  for (const run of runs) {
    for (const component of COUNTED) {
      const parts = partsOf(component, run.generation, { past, present: instance });
      counters.set(
        `${run.generation} ${component}`,
        walkOfCounter(audit, { run, time: times.get(run.generation), component, parts, marks }),
      );
    }
  }
  return {
    payerId: instance.userId,
    machineId,
    hostId: machine?.hostId,
    take(line) {
      if (line.component === "disk") return storage.take(line);
      const counter = counters.get(`${line.generation} ${line.component}`);
      if (counter !== undefined) return counter.take(line);
      const stored = `run ${line.generation} of instance ${id}`;
      reportOf(audit.tally, `line ${line.id}`)("counters", {
        problem: "its run is not there",
        stored,
        expected: "a known run",
      });
    },
    end() {
      storage.end();
      for (const counter of counters.values()) counter.end();
      const phases = facts.phases.get(id) ?? [];
      const [orders, ends] = [ordersOf(phases), endsOf(phases)];
      for (const run of runs) {
        const report = reportOf(audit.tally, `run ${run.generation} of instance ${id}`);
        checkRunStart(report, run, orders);
        checkRunEnd(report, run, ends);
      }
      audit.tally.examine("counters", counters.size);
    },
  };
}

function walkOfCounter(
  audit: ContractAudit,
  {
    run,
    time,
    component,
    parts,
    marks,
  }: {
    readonly run: AuditedRun;
    readonly time: RunTime | undefined;
    readonly component: (typeof COUNTED)[number];
    readonly parts: ReturnType<typeof partsOf>;
    readonly marks: readonly StoredMark[];
  },
): Pick<Walk, "take" | "end"> {
  const { instanceId: contractId, generation } = run;
  const mark = marks.find((one) => one.generation === generation && one.component === component);
  let place: CounterPlace = { position: 0n, reachedAt: undefined };
  if (mark !== undefined && audit.isFull) place = { position: mark.originPosition, reachedAt: undefined };
  else if (mark !== undefined) place = { position: mark.position, reachedAt: mark.reachedAt };
  let marked: AuditMark | undefined;
  return {
    take(line) {
      place = walkLine(reportOf(audit.tally, `line ${line.id}`), place, line, { run, time, parts });
      if (!isMarked(audit, line)) return;
      const reachedAt = place.reachedAt ?? line.toAt;
      marked = { contract: "instance", contractId, generation, component, position: place.position, reachedAt };
    },
    end() {
      const report = reportOf(audit.tally, `run ${generation} of instance ${contractId}`);
      endWalk(report, place, component, { run, parts });
      endMark(audit, report, mark, marked);
    },
  };
}

function isMarked({ marksBefore }: ContractAudit, line: AuditedLine): boolean {
  return marksBefore !== undefined && line.chargedAt < marksBefore;
}

/** Hands over the mark for the next checkpoint; a full audit compares it with the mark of the last one. */
function endMark(
  audit: ContractAudit,
  report: Report,
  stored: StoredMark | undefined,
  marked: AuditMark | undefined,
): void {
  if (audit.isFull) {
    compare(report, "seals", "its lines before the checkpoint do not lead to where its mark is", {
      stored: stored?.position ?? 0n,
      expected: marked?.position ?? stored?.originPosition ?? 0n,
    });
  } else if (marked !== undefined) {
    audit.marked(marked);
  }
}

const STATES = {
  scheduled: "stopped",
  starting: "loading",
  running: "running",
  yielding: "running",
  stopping: "stopped",
  stopped: "stopped",
  ending: "over",
  ended: "over",
} as const;

function storageOf(
  instance: AuditedInstance,
  machine: AuditedMachine | undefined,
  { past, phases }: { readonly past: readonly AuditedTerms[]; readonly phases: readonly AuditedPhase[] },
): Storage {
  return {
    sizeBytes: instance.diskBytes,
    meteredFromAt: instance.meteredFromAt,
    chargedUntilAt: instance.storageChargedUntilAt,
    states: phases.map(({ at, phase }) => ({ at, state: STATES[phase] })),
    prices: [
      ...past.map(({ untilAt, storageNanosPerGbMonth }) => ({ untilAt, priceNanos: storageNanosPerGbMonth })),
      { untilAt: undefined, priceNanos: instance.storageNanosPerGbMonth },
    ],
    machine,
  };
}

function walkOfVolume(
  audit: ContractAudit,
  volume: AuditedVolume,
  {
    machines,
    marks,
  }: { readonly machines: ReadonlyMap<MachineId, AuditedMachine>; readonly marks: readonly StoredMark[] },
): Walk {
  const machine = volume.machineId === undefined ? undefined : machines.get(volume.machineId);
  const begun = volume.meteredFromAt === undefined ? [] : [{ at: volume.meteredFromAt, state: "stored" as const }];
  const over = volume.deletingAt === undefined ? [] : [{ at: volume.deletingAt, state: "over" as const }];
  const storage: Storage = {
    sizeBytes: volume.sizeBytes,
    meteredFromAt: volume.meteredFromAt,
    chargedUntilAt: volume.storageChargedUntilAt,
    states: [...begun, ...over],
    prices: [{ untilAt: undefined, priceNanos: volume.priceNanosPerGbMonth }],
    machine,
  };
  const walk = walkOfStorage(audit, storage, { contract: "volume", contractId: volume.id, marks });
  return { payerId: volume.userId, machineId: volume.machineId, hostId: machine?.hostId, ...walk };
}

function walkOfStorage(
  audit: ContractAudit,
  storage: Storage,
  {
    contract,
    contractId,
    marks,
  }: Pick<AuditMark, "contract" | "contractId"> & { readonly marks: readonly StoredMark[] },
): Pick<Walk, "take" | "end"> {
  const stored = marks.find(({ component }) => component === "disk");
  const mark = audit.isFull ? undefined : stored;
  const pieces = piecesOf(storage, mark?.reachedAt ?? new Date(0));
  let place: StoragePlace = { reachedAt: mark?.reachedAt, quantityMs: 0n };
  let marked: AuditMark | undefined;
  return {
    take(line) {
      place = walkStorageLine(reportOf(audit.tally, `line ${line.id}`), place, line, { storage, pieces });
      if (!isMarked(audit, line)) return;
      const position = BigInt(line.toAt.getTime());
      const disk = { contract, contractId, generation: 0, component: "disk" } as const;
      marked = { ...disk, position, reachedAt: line.toAt };
    },
    end() {
      const report = reportOf(audit.tally, `${contract} ${contractId}`);
      endStorageWalk(report, place, { storage, pieces });
      endMark(audit, report, stored, marked);
      audit.tally.examine("coverage", 1);
    },
  };
}
