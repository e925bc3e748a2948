import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import { CPU_PUZZLE } from "../../../protocol/index.ts";

const derive: (
  password: Buffer,
  salt: Buffer,
  length: number,
  options: { readonly cost: number; readonly blockSize: number; readonly maxmem: number },
) => Promise<Buffer> = promisify(scrypt);

/** Solves a puzzle of the server on one core, beside the agent's own thread; the server knows from the time how fast it is. */
export async function solveCpuPuzzle(puzzle: Buffer): Promise<Buffer> {
  const { rounds, cost, blockSize, resultBytes } = CPU_PUZZLE;
  let state = puzzle;
  for (let round = 0; round < rounds; round += 1) {
    state = await derive(state, puzzle, resultBytes, { cost, blockSize, maxmem: 256 * cost * blockSize });
  }
  return state;
}
