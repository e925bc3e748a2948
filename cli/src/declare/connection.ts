import { Option, type Command } from "commander";

/** Heading of the common options, which the help of each command shows after its own. */
export const CONNECTION = "Server and answer:";

/** Adds a command that speaks to a server, with options for its address, the key and JSON output. */
export function serverCommand(parent: Command, name: string, summary: string): Command {
  return clientCommand(parent, name, summary).addOption(jsonOption());
}

/** `--raw` is the name that other clients have for it. */
export function jsonOption(): Option {
  return new Option("--raw, --json", "print the answer as JSON").helpGroup(CONNECTION);
}

/** Adds a command that speaks to a server and prints no answer. */
export function clientCommand(parent: Command, name: string, summary: string): Command {
  return connected(parent, name, summary)
    .addOption(
      new Option("--key <api key>", "API key; that of `berth login`, or the administrator's when left out")
        .env("BERTH_API_KEY")
        .helpGroup(CONNECTION),
    )
    .addOption(
      new Option("--data-dir <path>", "folder in which a server keeps its data; .berth without a login")
        .env("BERTH_DATA_DIR")
        .helpGroup(CONNECTION),
    );
}

/**
 * Adds a command of administrators, which always prints JSON. It ignores BERTH_API_KEY and the login, which are usually
 * a test user's.
 */
export function adminCommand(parent: Command, name: string, summary: string): Command {
  return connected(parent, name, summary)
    .addOption(
      new Option("--key <api key>", "an administrator's API key, in place of the server's").helpGroup(CONNECTION),
    )
    .addOption(dataDirOption().helpGroup(CONNECTION));
}

function connected(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .description(summary)
    .addOption(
      new Option("--url <address>", "address of the server, or several separated by commas")
        .env("BERTH_URL")
        .helpGroup(CONNECTION),
    );
}

export function dataDirOption(): Option {
  return new Option("--data-dir <path>", "folder in which the server keeps its data")
    .env("BERTH_DATA_DIR")
    .default(".berth");
}
