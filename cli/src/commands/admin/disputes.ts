import { adminDisputes } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

export async function listDisputes({ all, ...options }: ConnectionOptions & { readonly all?: true }): Promise<void> {
  printJsonLine(await adminDisputes(connect(options), { query: all === true ? { all: "true" } : {} }));
}
