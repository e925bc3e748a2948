import { parseRemarks, parseRows, queryOf, refusedName, type GpuSample, type Look } from "./sample.ts";
import type { NvidiaSmi, ToolAnswer, ToolRun } from "./tool.ts";

/** A tool that has not answered by now hangs: without a daemon that keeps the driver awake it takes seconds, not more. */
export const TOOL_LIMIT_MS = 25_000;
const NAMES_LIMIT = 64;

export type LookInput = {
  readonly tool: NvidiaSmi;
  /** Last known bus of each GPU by uuid: GPUs are asked one by one when one of them is lost. */
  readonly buses: ReadonlyMap<string, string>;
  /** Names of columns that this driver does not know; grows. */
  readonly unknownNames: Set<string>;
  readonly signal: AbortSignal;
};
/** `gone` is when the last process is gone: before that, no other may be started. */
export type LookResult = { readonly look: Look | "no tool"; readonly gone: Promise<void> };

/** One look at all GPUs. Runs one process at a time, and no other once one does not answer. */
export async function lookAtGpus(input: LookInput): Promise<LookResult> {
  let { run, answer } = await ask(input, []);
  for (let tries = 0; tries < NAMES_LIMIT && answer.kind === "answer" && answer.exitCode !== 0; tries += 1) {
    const refused = refusedName(answer.output);
    if (refused === undefined || input.unknownNames.has(refused)) break;
    input.unknownNames.add(refused);
    ({ run, answer } = await ask(input, []));
  }
  if (answer.kind === "missing") return { look: "no tool", gone: run.gone };
  if (answer.kind === "silence") return { look: HANGS, gone: run.gone };
  const whole = readAnswer(input, answer.output, answer.exitCode);
  const remarks = parseRemarks(answer.output);
  if (whole.kind === "sample" && whole.gpus.length > 0) return { look: whole, gone: run.gone };
  // Some drivers say nothing of the others when one GPU cannot be opened.
  return remarks.size === 0 ? { look: whole, gone: run.gone } : lookOneByOne(input, remarks, run);
}

const HANGS: Look = { kind: "failure", reason: "nvidia-smi does not answer" };

async function lookOneByOne(
  input: LookInput,
  remarks: ReadonlyMap<string, string>,
  first: ToolRun,
): Promise<LookResult> {
  const gpus: GpuSample[] = [];
  let last = first;
  for (const [uuid, bus] of input.buses) {
    if (remarks.has(bus)) continue;
    const { run, answer } = await ask(input, ["-i", uuid]);
    last = run;
    if (answer.kind !== "answer") return { look: HANGS, gone: run.gone };
    const one = readAnswer(input, answer.output, answer.exitCode);
    if (one.kind === "sample") gpus.push(...one.gpus);
  }
  return { look: { kind: "sample", gpus, remarks }, gone: last.gone };
}

async function ask({ tool, unknownNames, signal }: LookInput, more: readonly string[]) {
  const run = tool([...queryOf(unknownNames).args, ...more], TOOL_LIMIT_MS, signal);
  return { run, answer: await run.answer } satisfies { run: ToolRun; answer: ToolAnswer };
}

function readAnswer({ unknownNames }: LookInput, output: string, exitCode: number): Look {
  const gpus = parseRows(output, queryOf(unknownNames).columns);
  if (gpus !== undefined && (gpus.length > 0 || exitCode === 0)) {
    return { kind: "sample", gpus, remarks: parseRemarks(output) };
  }
  if (/^No devices were found/im.test(output)) return { kind: "sample", gpus: [], remarks: new Map() };
  const said = output.trim().split("\n")[0]?.trim().slice(0, 200) ?? "";
  if (exitCode === 0) return { kind: "failure", reason: "nvidia-smi prints something that cannot be read" };
  return { kind: "failure", reason: `nvidia-smi does not work: ${said === "" ? `exit code ${exitCode}` : said}` };
}
