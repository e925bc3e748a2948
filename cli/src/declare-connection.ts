import { Option, type Command } from "commander";

/** A command that speaks to a server: where it is, who calls, and whether people or programs read the answer. */
export function serverCommand(parent: Command, name: string, summary: string): Command {
  return clientCommand(parent, name, summary).option("--json", "print the answer as JSON");
}

/** The same for one that prints no answer. */
export function clientCommand(parent: Command, name: string, summary: string): Command {
  return connected(parent, name, summary).addOption(
    new Option("--key <api key>", "API key; the administrator's when left out").env("BERTH_API_KEY"),
  );
}

/** Prints JSON always. BERTH_API_KEY is not heeded: it is mostly the key of the user that one is trying things out as. */
export function adminCommand(parent: Command, name: string, summary: string): Command {
  return connected(parent, name, summary).option(
    "--key <api key>",
    "an administrator's API key, in place of the server's",
  );
}

function connected(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .description(summary)
    .addOption(new Option("--url <address>", "address of the server").env("BERTH_URL"))
    .addOption(dataDirOption());
}

export function dataDirOption(): Option {
  return new Option("--data-dir <path>", "where the server keeps its data").env("BERTH_DATA_DIR").default(".berth");
}
