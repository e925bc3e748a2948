import { statfs } from "node:fs/promises";
import { Type } from "typebox";
import { model } from "../http/model.ts";
import type { HttpScope } from "../http/server.ts";
import type { LoopDriver } from "../base/loop-driver.ts";

/** PostgreSQL writes its journal in files of 16 MB; with less room than a few of them it may stop at any moment. */
export const FREE_BYTES_MIN = 64 * 1_048_576;

/** Bytes that may still be written below a directory. */
export async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

export type HealthPorts = {
  readonly loops: LoopDriver;
  /** Bytes left on the disk of the data directory; undefined where nobody looks. */
  readonly freeBytes: () => Promise<number | undefined>;
};

/** Registers the health check: the process answers; database, disk and the loops that the server needs work. */
export function registerHealth({ app, database }: HttpScope, { loops, freeBytes }: HealthPorts): void {
  const Answer = model("Health", { status: Type.String() });
  app.get(
    "/healthz",
    {
      config: { access: { operation: "api.health.process", permission: "public" } },
      schema: { summary: "Whether the process answers", response: { 200: Answer } },
    },
    async () => ({ status: "ok" }),
  );
  app.get(
    "/readyz",
    {
      config: { access: { operation: "api.health.ready", permission: "public" } },
      schema: { summary: "Whether database and loops work", response: { 200: Answer, 503: Answer } },
    },
    async (_request, reply) => {
      const status = await findTrouble();
      return status === undefined ? { status: "ok" } : reply.code(503).send({ status });
    },
  );

  async function findTrouble(): Promise<string | undefined> {
    const isDatabaseUp = await database.pool.query("select 1").then(
      () => true,
      () => false,
    );
    if (!isDatabaseUp) return "the database does not answer";
    const free = await freeBytes();
    if (free !== undefined && free < FREE_BYTES_MIN) return "the disk of the data directory is almost full";
    return loops.isHealthy() ? undefined : "a background loop fails";
  }
}
