import { adminMachineBackUp } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Has backups made of all instances and volumes on a machine, and prints how many are wanted now. */
export async function backUpMachine(id: number, options: ConnectionOptions): Promise<void> {
  printJsonLine(await adminMachineBackUp(connect(options), { id }));
}
