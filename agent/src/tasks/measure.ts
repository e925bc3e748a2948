import type { ExecOutput } from "../engine/engine.ts";

/** The question of the server for the size of a copy: the bytes below one path. */
const MEASURE = ["du", "-s", "-b"] as const;
const KIBIBYTE = 1024n;

/**
 * The same question in KiB of disk space, if this is the answer of an older busybox, which does not know -b; undefined
 * for any other program or complaint.
 */
export function inKibibytes(
  argv: readonly string[],
  { exitCode, stdout, stderr }: ExecOutput,
): readonly string[] | undefined {
  const isMeasure = MEASURE.every((word, index) => argv[index] === word);
  const isUnknown = /^du: (?:invalid|unrecognized) option\b/.test(stderr.toString("latin1"));
  if (!isMeasure || exitCode === 0 || stdout.length > 0 || !isUnknown) return undefined;
  return ["du", "-s", "-k", ...argv.slice(MEASURE.length)];
}

/** The answer to `inKibibytes` with the number of bytes in front. */
export function inBytes(output: ExecOutput): ExecOutput {
  const text = output.stdout.toString("latin1");
  const counted = text.replace(/^\d+(?=\t)/, (kibibytes) => String(BigInt(kibibytes) * KIBIBYTE));
  return { ...output, stdout: Buffer.from(counted, "latin1") };
}
