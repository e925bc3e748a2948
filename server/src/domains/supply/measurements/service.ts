import { forbidden } from "../../../base/errors.ts";
import { parseId, type MachineId, type UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { findMeasured, listMeasured, type Measured } from "../../rental/instances/for-measurements.ts";
import { describeMachines } from "../hosts/index.ts";
import { readBlock } from "./rules/block.ts";
import { Grid } from "./rules/grid.ts";
import { readSample } from "./rules/sample.ts";
import { gpuNumberOf, type Subject } from "./rules/series.ts";
import { LONGEST_BLOCK_S, QUARTER_S, tierOf, type Span } from "./rules/tiers.ts";
import { listBlocks, listLastSamples, listSamples } from "./store.ts";

type MeasuredSubject = Subject & { readonly machineId: MachineId };

/** The measurements of these subjects, which are all of one kind, in equal steps. */
async function readGrids(
  db: Reader,
  kind: Subject["kind"],
  subjects: readonly MeasuredSubject[],
  span: Span,
): Promise<ReadonlyMap<number, Grid>> {
  const { stepS } = tierOf(span.stepS);
  const toS = span.fromS + span.count * span.stepS;
  const grids = new Map(subjects.map(({ id }) => [id, new Grid(span)]));
  const blockS = stepS === QUARTER_S ? LONGEST_BLOCK_S : QUARTER_S;
  const stretch = { stepS, fromS: span.fromS - blockS, toS };
  for (const block of await listBlocks(db, { kind, ids: [...grids.keys()] }, stretch)) {
    const grid = grids.get(block.subject.id);
    readBlock(block, (key, atS, mean, maximum) => grid?.note(key, atS, mean, maximum));
  }
  await noteSamples(db, kind, subjects, { grids, span, stepS });
  return grids;
}

/** Adds samples that are not in blocks yet, in the steps of the blocks: a mean of means is then the same after them. */
async function noteSamples(
  db: Reader,
  kind: Subject["kind"],
  subjects: readonly MeasuredSubject[],
  { grids, span, stepS }: { readonly grids: ReadonlyMap<number, Grid>; readonly span: Span; readonly stepS: number },
): Promise<void> {
  const fromS = Math.floor(span.fromS / stepS) * stepS;
  const toS = span.fromS + span.count * span.stepS;
  const count = Math.ceil((toS - fromS) / stepS);
  const fine = new Map(subjects.map(({ id }) => [id, new Grid({ fromS, stepS, count })]));
  const machineIds = [...new Set(subjects.map(({ machineId }) => machineId))];
  for (const { takenAtMs, content } of await listSamples(db, machineIds, { fromS, toS })) {
    readSample(content, (subject, key, value) => {
      if (subject.kind === kind) fine.get(subject.id)?.note(key, takenAtMs / 1000, value);
    });
  }
  for (const [id, grid] of fine) grids.get(id)?.noteAll(grid);
}

/** The measurements of the caller's instance. */
export async function showInstance(
  db: Reader,
  { userId, instanceId }: { readonly userId: UserId; readonly instanceId: number },
  span: Span,
): Promise<{ readonly measured: Measured; readonly grid: Grid }> {
  const measured = await findMeasured(db, userId, instanceId);
  const { id, machineId } = measured;
  const grids = await readGrids(db, "instance", [{ kind: "instance", id, machineId }], span);
  return { measured, grid: grids.get(id) ?? new Grid(span) };
}

/** The measurements of the caller's machine. */
export async function showMachine(
  db: Reader,
  { hostId, machineId }: { readonly hostId: UserId; readonly machineId: number },
  span: Span,
): Promise<{ readonly cpuCores: number; readonly grid: Grid }> {
  const id = parseId<MachineId>(String(machineId));
  const machine = id === undefined ? undefined : (await describeMachines(db, [id])).get(id);
  if (id === undefined || machine?.hostId !== hostId) throw forbidden(`Machine ${machineId} is not yours.`);
  const grids = await readGrids(db, "machine", [{ kind: "machine", id, machineId: id }], span);
  return { cpuCores: machine.facts.cpu_cores, grid: grids.get(id) ?? new Grid(span) };
}

/** Most instances of one answer for a list page. */
export const SPARKS_MAX = 200;

/** Measurements of the caller's instances, the newest ones unless `ids` names others; those of others are left out. */
export async function listSparks(
  db: Reader,
  { userId, ids }: { readonly userId: UserId; readonly ids: ReadonlySet<number> | undefined },
  span: Span,
): Promise<readonly { readonly measured: Measured; readonly grid: Grid }[]> {
  const all = await listMeasured(db, userId);
  const wanted = all.filter(({ id }) => ids?.has(id) ?? true).slice(0, SPARKS_MAX);
  const subjects = wanted.map(({ id, machineId }) => ({ kind: "instance" as const, id, machineId }));
  const grids = await readGrids(db, "instance", subjects, span);
  return wanted.map((measured) => ({ measured, grid: grids.get(measured.id) ?? new Grid(span) }));
}

/** A last value in stored units; its GPU is undefined for a value of the whole instance. */
export type LastValue = {
  readonly measured: Measured;
  readonly key: number;
  readonly gpuIndex: number | undefined;
  readonly value: number;
};

/** A sample that is older than this says nothing about now. */
const FRESH_S = 60;

/** The last values of the caller's running instances. */
export async function listLastValues(db: Reader, userId: UserId, now: Date): Promise<readonly LastValue[]> {
  const all = new Map((await listMeasured(db, userId)).map((measured) => [Number(measured.id), measured]));
  const machineIds = [...new Set([...all.values()].map(({ machineId }) => machineId))];
  const values: LastValue[] = [];
  for (const { machineId, content } of await listLastSamples(db, machineIds, now.getTime() / 1000 - FRESH_S)) {
    readSample(content, ({ kind, id }, key, value) => {
      const measured = kind === "instance" ? all.get(id) : undefined;
      if (measured?.machineId !== machineId) return;
      const gpuNumber = gpuNumberOf(key);
      values.push({ measured, key, gpuIndex: gpuNumber === 0 ? undefined : gpuNumber - 1, value });
    });
  }
  return values;
}
