import { PassThrough, Readable, Writable } from "node:stream";
import { succeed, type Program, type Result } from "../engine/engine.ts";
import { BEGUN, SCRIPT_NAME } from "../eviction-notice/scripts.ts";

const KILLED = 137;
const ENDLESS_LINE = Buffer.from(`${"simulated ".repeat(100)}\n`);

/**
 * Runs a program in a container that has no files: names such as `exit-3` steer it as image tags do. `exit-<n>` prints
 * `out` and `err` on its two streams and ends with that code, `endless` prints for ever, `forever` waits. Scripts of an
 * eviction notice end at once.
 */
export function simulateProgram(argv: readonly string[]): Program {
  const name = argv[0] ?? "";
  const exit = /^exit-(\d{1,3})$/.exec(name);
  if (exit) return quickProgram("out\n", "err\n", Number(exit[1]));
  if (argv.includes(SCRIPT_NAME)) return quickProgram(`${BEGUN}\n`, "", 0);
  if (name === "endless" || name === "forever") return lastingProgram(name === "endless");
  return quickProgram("", "a simulated instance has no files and runs no programs\n", 1);
}

function quickProgram(out: string, err: string, code: number): Program {
  const ended = Promise.resolve(succeed(code));
  return {
    stdin: deafWritable(),
    stdout: Readable.from([Buffer.from(out)].filter((data) => data.length > 0)),
    stderr: Readable.from([Buffer.from(err)]),
    ended,
    kill: () => undefined,
  };
}

function lastingProgram(doesPrint: boolean): Program {
  let end: (result: Result<number>) => void = () => undefined;
  const ended = new Promise<Result<number>>((resolve) => {
    end = resolve;
  });
  const stdout = new Readable({
    read() {
      if (doesPrint) this.push(ENDLESS_LINE);
    },
  });
  const stderr = new PassThrough();
  return {
    stdin: deafWritable(),
    stdout,
    stderr,
    ended,
    kill: () => {
      stdout.push(null);
      stdout.destroy();
      stderr.end();
      stderr.destroy();
      end(succeed(KILLED));
    },
  };
}

function deafWritable(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
