import { randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { RawData, WebSocket } from "ws";
import { CPU_PUZZLE, CPU_PUZZLE_BYTES } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";

const TIME_MAX_MS = 15_000;
const MS_PER_SECOND = 1_000;

const derive: (
  password: Buffer,
  salt: Buffer,
  length: number,
  options: { readonly cost: number; readonly blockSize: number; readonly maxmem: number },
) => Promise<Buffer> = promisify(scrypt);

/**
 * Measures one core of a machine in rounds of a puzzle a second, and ends the tunnel. Each round needs the result of the
 * round before, and the server solves the puzzle as well, so an agent can neither spread nor skip the work. The way there
 * and back counts, so the speed is a lower bound. Undefined for a wrong answer, or none in time: agents of older versions
 * know no puzzles.
 */
export async function measureCpu(tunnel: WebSocket, clock: Clock): Promise<number | undefined> {
  const over = new AbortController();
  const puzzle = randomBytes(CPU_PUZZLE_BYTES);
  const answered = new Promise<Buffer | undefined>((resolve) => {
    tunnel.on("error", () => {});
    tunnel.once("close", () => resolve(undefined));
    tunnel.once("message", (data) => resolve(bytesOf(data)));
  });
  tunnel.resume();
  const beganMs = clock.monotonicMs();
  tunnel.send(puzzle, () => {});
  const answer = await Promise.race([answered, clock.sleep(TIME_MAX_MS, over.signal).then(() => undefined)]);
  const tookMs = clock.monotonicMs() - beganMs;
  over.abort();
  tunnel.terminate();
  if (answer?.length !== CPU_PUZZLE.resultBytes || !answer.equals(await solve(puzzle))) return undefined;
  return (CPU_PUZZLE.rounds * MS_PER_SECOND) / Math.max(1, tookMs);
}

async function solve(puzzle: Buffer): Promise<Buffer> {
  const { rounds, cost, blockSize, resultBytes } = CPU_PUZZLE;
  let state = puzzle;
  for (let round = 0; round < rounds; round += 1) {
    state = await derive(state, puzzle, resultBytes, { cost, blockSize, maxmem: 256 * cost * blockSize });
  }
  return state;
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
