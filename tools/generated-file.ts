// The last step of every generator: write the result, or with --check only say if the file is up to date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export function writeOrCheck(file: string, text: string): void {
  const isUpToDate = existsSync(file) && readFileSync(file, "utf8") === text;
  if (isUpToDate) return;
  const name = path.relative(process.cwd(), file);
  if (process.argv.includes("--check")) {
    console.error(`${name} is not what its source makes. Run: npm run api:generate`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(file, text);
  console.log(`${name} written`);
}
