import type { Command } from "commander";

/** The group `berth billing`, to which several files add commands; the first caller creates it. */
export function billingGroup(program: Command): Command {
  return groupOf(program, "billing", "charges, invoices, cards and automatic payments");
}

/** Returns the group of this name, which is created with the description if it does not exist. */
export function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).description(description);
}
