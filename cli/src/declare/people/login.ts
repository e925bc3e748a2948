import type { Command } from "commander";
import { clientCommand } from "../connection.ts";

export function declareLoginCommands(program: Command): void {
  clientCommand(program, "login", "keep the server's address and your key for later commands")
    .addHelpText(
      "after",
      `
Without --key it asks for the key, or reads it from standard input. The server must accept the key. Both are stored in
berth/config.json in $XDG_CONFIG_HOME (~/.config), which only you can read. Options and variables win over it.`,
    )
    .action(async (options) => (await import("../../commands/login/login.ts")).login(options));
  program
    .command("logout")
    .description("forget the address and the key that `berth login` stored")
    .action(async () => (await import("../../commands/login/logout.ts")).logout());
}
