import type { Tx } from "../../../db/transaction.ts";
import { joinBlocks } from "./rules/block.ts";
import { rollUp } from "./rules/roll-up.ts";
import { LONGEST_BLOCK_S, QUARTER_S, TIERS } from "./rules/tiers.ts";
import {
  claimRollUp,
  deleteBlocks,
  insertBlocks,
  listMachinesWithSamples,
  listScattered,
  takeBlocks,
  takeSamples,
} from "./store.ts";

/** Time after a quarter of an hour until its samples are rolled up: servers may store some of them late. */
const SETTLED_AFTER_S = 120;
const MACHINES_PER_RUN = 50;
const BLOCKS_PER_RUN = 5_000;
const JOINED_PER_RUN = 500;

/**
 * Makes blocks of the samples of some machines whose quarter of an hour is over. Samples become blocks and are deleted in
 * one transaction, so none is lost or counted twice when the server dies.
 */
export async function rollUpSamples(tx: Tx): Promise<{ readonly machines: number; readonly blocks: number }> {
  if (!(await claimRollUp(tx))) return { machines: 0, blocks: 0 };
  const settledS = floorTo(tx.now.getTime() / 1000 - SETTLED_AFTER_S, QUARTER_S);
  const machines = await listMachinesWithSamples(tx, settledS, MACHINES_PER_RUN);
  const quarters = machines.map(({ machineId, oldestS }) => ({ machineId, fromS: floorTo(oldestS, QUARTER_S) }));
  const samples = Map.groupBy(await takeSamples(tx, quarters), ({ machineId }) => machineId);
  const blocks = quarters.flatMap(({ machineId, fromS }) => rollUp(fromS, samples.get(machineId) ?? []));
  await insertBlocks(tx, blocks);
  return { machines: quarters.length, blocks: blocks.length };
}

/** Joins yesterday's blocks of quarter hours to one block for each subject. */
export async function joinQuarters(tx: Tx): Promise<{ readonly joined: number }> {
  const [, , { stepS }] = TIERS;
  // A machine whose samples were rolled up late has its last blocks well after midnight.
  const toS = floorTo(tx.now.getTime() / 1000 - 2 * 3_600, LONGEST_BLOCK_S);
  const day = { stepS, fromS: toS - LONGEST_BLOCK_S, toS };
  if (!(await claimRollUp(tx))) return { joined: 0 };
  const subjects = await listScattered(tx, day, JOINED_PER_RUN);
  const found = Map.groupBy(await takeBlocks(tx, subjects, day), ({ subject }) => `${subject.kind} ${subject.id}`);
  const count = LONGEST_BLOCK_S / stepS;
  const joined = [...found.values()].flatMap((blocks) => {
    const [first] = blocks;
    if (first === undefined) return [];
    const content = joinBlocks(blocks, { fromS: day.fromS, stepS, count });
    return [{ subject: first.subject, stepS, beginsS: day.fromS, content }];
  });
  await insertBlocks(tx, joined);
  return { joined: joined.length };
}

/** Deletes blocks that are older than their resolution is kept. */
export async function forgetBlocks(tx: Tx): Promise<{ readonly forgotten: number }> {
  const nowS = tx.now.getTime() / 1000;
  let forgotten = 0;
  for (const { stepS, keptS } of TIERS) {
    const lengthS = stepS === QUARTER_S ? LONGEST_BLOCK_S : QUARTER_S;
    forgotten += await deleteBlocks(tx, stepS, nowS - keptS - lengthS, BLOCKS_PER_RUN);
  }
  return { forgotten };
}

function floorTo(valueS: number, stepS: number): number {
  return Math.floor(valueS / stepS) * stepS;
}
