import { Option, type Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseHours, parseId } from "../parse.ts";

const SERVICE_STATE_DIR = "/var/lib/berth-agent";

/** Joined machines: commands for their owner at the server, and for the machine itself. */
export function declareHostCommands(program: Command): void {
  const host = program.command("host").description("your joined machines, join tokens and payouts");
  serverCommand(host, "list", "list your agents and their machines").action(async (options) =>
    (await import("../commands/host/list.ts")).listHosts(options),
  );
  serverCommand(host, "revoke", "end an agent's connection for good; its machine may join again")
    .argument("<id>", "id of the credential, from `berth host list`", parseId)
    .action(async (id, options) => (await import("../commands/host/revoke.ts")).revokeHost(id, options));
  serverCommand(host, "flags", "list flags: facts that contradict your machines' reports")
    .option("--all", "show cleared flags as well")
    .action(async (options) => (await import("../commands/host/flags.ts")).showFlags(options));

  const token = host.command("token").description("join tokens: each lets one machine join, once");
  serverCommand(token, "create", "create a join token; it is shown once")
    .option("--name <text>", "name of the machine")
    .option("--hours <count>", "hours of validity", parseHours, 24)
    .action(async (options) => (await import("../commands/host/create-token.ts")).createToken(options));
  serverCommand(token, "list", "list your join tokens").action(async (options) =>
    (await import("../commands/host/list-tokens.ts")).listTokens(options),
  );
  serverCommand(token, "delete", "delete a join token; a machine that used it stays")
    .argument("<id>", "id of the token", parseId)
    .action(async (id, options) => (await import("../commands/host/delete-token.ts")).deleteToken(id, options));

  declareAgentCommands(program);
}

function declareAgentCommands(program: Command): void {
  // All options, --help included, are passed on to the agent unchanged.
  const agent = program
    .command("agent")
    .summary("offer this machine to a server, here or as a service")
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument("[options...]", "see `berth agent --help`")
    .action(async (_words: readonly string[], _options: object, command: Command) =>
      (await import("../commands/agent/run.ts")).runAgent(command.args),
    );
  agent
    .command("install")
    .description("join with a token, then run the agent as a service of systemd; further options are the agent's")
    .helpOption("--help", "show the options")
    .allowUnknownOption()
    .allowExcessArguments()
    .argument("[options...]", "options of the agent, such as --public-ip; see `berth agent --help`")
    .addOption(new Option("--server <address>", "the server to join").env("BERTH_AGENT_SERVER"))
    .addOption(
      new Option("--token <token>", "join token, from `berth host token create`").env("BERTH_AGENT_JOIN_TOKEN"),
    )
    .addOption(stateDirOption())
    .addOption(rootOption())
    .action(async (_words: readonly string[], options, command: Command) =>
      (await import("../commands/agent/install.ts")).installAgent(options, command.args),
    );
  agent
    .command("uninstall")
    .description("stop and remove the service; the state folder stays unless --purge is given")
    .helpOption("--help", "show the options")
    .option("--purge", "delete credential, notes and disks of the agent as well")
    .option("--force", "even while rentals have containers here")
    .addOption(stateDirOption())
    .addOption(rootOption())
    .action(async (options) => (await import("../commands/agent/uninstall.ts")).uninstallAgent(options));
  agent
    .command("status")
    .description("show the service and what this machine joined; exit code 3 when the service does not run")
    .helpOption("--help", "show the options")
    .addOption(stateDirOption())
    .addOption(rootOption())
    .action(async (options) => (await import("../commands/agent/status.ts")).showAgent(options));
}

function stateDirOption(): Option {
  return new Option("--state-dir <path>", "state folder of the agent").default(SERVICE_STATE_DIR);
}

function rootOption(): Option {
  return new Option("--root <path>", "a system that is not running, at this path").default("/");
}
