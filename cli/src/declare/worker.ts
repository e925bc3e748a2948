import type { Command } from "commander";

export function declareWorkerCommands(program: Command): void {
  // All options, --help included, are passed on to the worker unchanged.
  program
    .command("worker")
    .summary("make a program a worker of an endpoint")
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument("[options...]", "see `berth worker --help`")
    .action(async (_words: readonly string[], _options: object, command: Command) =>
      (await import("../commands/worker/run.ts")).runWorker(command.args),
    );
}
