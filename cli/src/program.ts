import { Command, Help, type Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import { declareAccessCommands } from "./declare/access.ts";
import { declareAccountCommands } from "./declare/people/account.ts";
import { declareAdminCommands } from "./declare/admin.ts";
import { declareOperateCommands } from "./declare/operate.ts";
import { declareAuditCommands } from "./declare/audit.ts";
import { declareBookingCommands } from "./declare/money/bookings.ts";
import { declareCapCommands } from "./declare/money/caps.ts";
import { declareBillingCommands } from "./declare/money/billing.ts";
import { declareCompletionCommands } from "./declare/completion.ts";
import { CONNECTION } from "./declare/connection.ts";
import { declareContractCommands } from "./declare/money/contracts.ts";
import { declareDeploymentCommands } from "./declare/deployments.ts";
import { declareEndpointCommands } from "./declare/endpoints.ts";
import { declareHostCommands } from "./declare/hosts.ts";
import { declareHostTaskCommands } from "./declare/host-tasks.ts";
import { declareInstanceCommands } from "./declare/instances.ts";
import { declareKeyCommands } from "./declare/people/keys.ts";
import { declareLoginCommands } from "./declare/people/login.ts";
import { declareMachineCommands } from "./declare/machines.ts";
import { declareMarketCommands } from "./declare/market.ts";
import { declarePaymentCommands, declarePayoutCommands } from "./declare/money/payments.ts";
import { declareNotificationCommands } from "./declare/notifications.ts";
import { declareScheduleCommands } from "./declare/schedules.ts";
import { declareServerCommands } from "./declare/server.ts";
import { declareServiceCommands } from "./declare/services.ts";
import { declareTeamCommands } from "./declare/people/teams.ts";
import { declareTemplateCommands } from "./declare/templates.ts";
import { declareCloudCommands } from "./declare/clouds.ts";
import { declareVolumeCommands } from "./declare/volumes.ts";
import { declareWorkerCommands } from "./declare/worker.ts";
import { addExamples } from "./examples.ts";
import { isCheckout } from "./rooms.ts";

const HELP_OF_A_CHECKOUT = `
Of the project itself:
  test             prove that everything works, from format to end-to-end
  bench [name]     run a benchmark, or list them
  pictures [dir]   take pictures of the console (docs/pictures)
  drill            kill each part of an installation, and show what was lost
  month            play a month of a small market, and show what each paid

Start with \`berth up\`, or \`berth up --simulate 3\` to try a market without hardware.`;

const HELP_OF_A_CLIENT = `
This is the client alone: \`up\` and \`agent\` need a checkout of Berth. Start with \`berth login --url ADDRESS\`.`;

const HELP_OF_CONNECTIONS = `
Commands speak to the server of --url (BERTH_URL), of --data-dir, of \`berth login\`, or of the data directory here, in this
order. The address may be several, separated by commas, of one database: when one is away the next one is asked.`;

/** Groups of commands in the order of the help. */
const GROUPS: readonly (readonly [string, readonly ((program: Command) => void)[]])[] = [
  [
    "The service",
    [
      declareServerCommands,
      declareLoginCommands,
      declareAdminCommands,
      declareOperateCommands,
      declareAuditCommands,
      declareCompletionCommands,
    ],
  ],
  ["The market", [declareMarketCommands]],
  ["What you rent", [declareInstanceCommands, declareHostTaskCommands, declareScheduleCommands]],
  ["Ways in", [declareAccessCommands, declareKeyCommands, declareTeamCommands]],
  [
    "Money",
    [
      declareAccountCommands,
      declareBillingCommands,
      declarePaymentCommands,
      declareContractCommands,
      declareCapCommands,
    ],
  ],
  ["Notifications", [declareNotificationCommands]],
  [
    "Templates, volumes",
    [declareTemplateCommands, declareVolumeCommands, declareCloudCommands, declareServiceCommands],
  ],
  ["Endpoints that scale by themselves", [declareEndpointCommands, declareDeploymentCommands, declareWorkerCommands]],
  ["Your machines", [declareMachineCommands, declareHostCommands, declarePayoutCommands, declareBookingCommands]],
];

/** Every command with its options. The code of a command is loaded when it runs, so that help is quick. */
export function createProgram(): Command {
  const program = new Command("berth")
    .description("An open, self-hosted GPU rental service.")
    .version(manifest.version, "--version", "print the version")
    .addHelpText("after", `${isCheckout() ? HELP_OF_A_CHECKOUT : HELP_OF_A_CLIENT}${HELP_OF_CONNECTIONS}`)
    .showHelpAfterError("Run the command with --help to see what it takes.")
    .configureHelp({ subcommandTerm: termOf, groupItems: groupsInOrder })
    .exitOverride();
  for (const [heading, declarations] of GROUPS) {
    program.commandsGroup(`${heading}:`);
    for (const declare of declarations) declare(program);
  }
  program.commandsGroup(`${GROUPS[0]?.[0]}:`);
  program.helpCommand("help [command]", "show what a command takes");
  for (const command of allCommands(program)) command.exitOverride();
  addExamples(program);
  return program;
}

function allCommands(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}

/** Groups of the help in order: a command's own options before the common ones. */
function groupsInOrder<T extends Command | Option>(
  all: T[],
  visible: T[],
  groupOf: (item: T) => string,
): Map<string, T[]> {
  const groups = new Help().groupItems(all, visible, groupOf);
  const common = groups.get(CONNECTION);
  if (common === undefined) return groups;
  groups.delete(CONNECTION);
  return groups.set(CONNECTION, common);
}

/**
 * The term of a command in a list: its name in the list of all commands, so that each has one line; with arguments in a
 * group.
 */
function termOf(command: Command): string {
  if (command.parent?.parent === null) return command.name();
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}
