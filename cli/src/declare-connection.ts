import { Option, type Command } from "commander";

/** Stands apart in the help of each command, behind what is its own. */
export const CONNECTION = "Server and answer:";

/** A command that speaks to a server: where it is, who calls, and whether people or programs read the answer. */
export function serverCommand(parent: Command, name: string, summary: string): Command {
  return clientCommand(parent, name, summary).addOption(
    new Option("--json", "print the answer as JSON").helpGroup(CONNECTION),
  );
}

/** The same for one that prints no answer. */
export function clientCommand(parent: Command, name: string, summary: string): Command {
  return connected(parent, name, summary).addOption(
    new Option("--key <api key>", "API key; the administrator's when left out")
      .env("BERTH_API_KEY")
      .helpGroup(CONNECTION),
  );
}

/** Prints JSON always. BERTH_API_KEY is not heeded: it is mostly the key of the user that one is trying things out as. */
export function adminCommand(parent: Command, name: string, summary: string): Command {
  return connected(parent, name, summary).addOption(
    new Option("--key <api key>", "an administrator's API key, in place of the server's").helpGroup(CONNECTION),
  );
}

function connected(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .description(summary)
    .addOption(
      new Option("--url <address>", "address of the server, or of several, apart by commas")
        .env("BERTH_URL")
        .helpGroup(CONNECTION),
    )
    .addOption(dataDirOption().helpGroup(CONNECTION));
}

export function dataDirOption(): Option {
  return new Option("--data-dir <path>", "where the server keeps its data").env("BERTH_DATA_DIR").default(".berth");
}
