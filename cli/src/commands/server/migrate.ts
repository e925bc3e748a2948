import path from "node:path";
import { become } from "../../become.ts";
import { UserError } from "../../failure.ts";
import { requireCheckout } from "../../rooms.ts";

export type MigrateOptions = { readonly check?: boolean };

/** Becomes the program that brings an external database to the schema of this version. Does not return. */
export async function migrate({ check: isLook = false }: MigrateOptions): Promise<void> {
  const hasUrl = ["DATABASE_URL", "DATABASE_URL_FILE"].some((name) => (process.env[name] ?? "") !== "");
  if (!hasUrl) {
    throw new UserError(
      "`berth migrate` needs DATABASE_URL.",
      "Set it as the servers have it. An embedded database is migrated by `berth up`.",
      2,
    );
  }
  const main = path.join(requireCheckout(), "server/src/migrate-main.ts");
  await become([main, ...(isLook ? ["--check"] : [])], process.env);
}
