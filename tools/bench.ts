// `./berth bench NAME [arguments]` runs bench/NAME.ts; without a name it lists them.
import { globSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Exports of each bench/NAME.ts. A benchmark prints its own result, beside a control of the same run. */
type Benchmark = { readonly run: (args: readonly string[]) => Promise<void> };

const folder = path.resolve(import.meta.dirname, "../bench");
const names = globSync("*.ts", { cwd: folder })
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => path.basename(file, ".ts"))
  .toSorted();

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  console.log(["Benchmarks:", ...names.map((each) => `  ${each}`), "", "Run one with: ./berth bench NAME"].join("\n"));
} else if (names.includes(name)) {
  const benchmark: Benchmark = await import(pathToFileURL(path.join(folder, `${name}.ts`)).href);
  await benchmark.run(args);
} else {
  console.error(`error: there is no benchmark ${name}\nThere are: ${names.join(", ")}`);
  process.exitCode = 2;
}
