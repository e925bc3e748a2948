import { Command } from "commander";
import { declareAccessCommands } from "./declare-access.ts";
import { declareAccountCommands } from "./declare-account.ts";
import { declareAdminCommands } from "./declare-admin.ts";
import { declareHostCommands } from "./declare-hosts.ts";
import { declareHostTaskCommands } from "./declare-host-tasks.ts";
import { declareInstanceCommands } from "./declare-instances.ts";
import { declareKeyCommands } from "./declare-keys.ts";
import { declareServerCommands } from "./declare-server.ts";
import { declareServiceCommands } from "./declare-services.ts";
import { declareTemplateCommands } from "./declare-templates.ts";

const AFTER_HELP = `
Of the project itself:
  test                   prove that everything works, from format to end-to-end
  bench [name]           run a benchmark, or list them

Start with \`berth up\`, or \`berth up --simulate 3\` to try a market without hardware.`;

/** Every command with its options. What a command does is loaded when it runs, so that help is there at once. */
export function createProgram(): Command {
  const program = new Command("berth")
    .description("An open, self-hosted GPU rental service.")
    .addHelpText("after", AFTER_HELP)
    .showHelpAfterError("Run the command with --help to see what it takes.")
    .exitOverride();
  declareServerCommands(program);
  declareInstanceCommands(program);
  declareHostTaskCommands(program);
  declareAccessCommands(program);
  declareAccountCommands(program);
  declareKeyCommands(program);
  declareTemplateCommands(program);
  declareServiceCommands(program);
  declareHostCommands(program);
  declareAdminCommands(program);
  for (const command of allCommands(program)) command.exitOverride();
  return program;
}

function allCommands(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}
