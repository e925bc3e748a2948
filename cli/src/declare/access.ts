import type { Command } from "commander";
import { clientCommand, serverCommand } from "./connection.ts";
import { parseId } from "../parse.ts";

const collect = (value: string, earlier: readonly string[]) => [...earlier, value];

export function declareAccessCommands(program: Command): void {
  // Words after the id belong to the command that runs in the instance.
  program.enablePositionalOptions();
  clientCommand(program, "ssh", "open a shell in an instance, or run a command there")
    .argument("<id>", "id of the instance", parseId)
    .argument("[command...]", "command to run; a shell when left out")
    .option("-i, --identity <file>", "private key to use instead of the keys that ssh finds")
    .option("-L, --forward <rule>", "local port forward, as for ssh; may be repeated", collect, [])
    .passThroughOptions()
    .action(async (id, command, options) =>
      (await import("../commands/instance/ssh/ssh.ts")).ssh(id, command, options),
    );
  for (const scheme of ["ssh", "scp"] as const) {
    serverCommand(program, `${scheme}-url`, `print the ${scheme}:// address of an instance`)
      .argument("[id]", "id of the instance; the only running one when left out", parseId)
      .action(async (id, options) =>
        (await import("../commands/instance/ssh/ssh-url.ts")).printSshUrl(scheme, id, options),
      );
  }
}
