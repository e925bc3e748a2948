import { sql } from "kysely";
import type { DeploymentId, EndpointGroupId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Tx } from "../../../db/transaction.ts";
import { encryptEnv } from "../deployments/encrypted-container.ts";
import { encryptArgs } from "./encrypted-recipe.ts";

const SEALED = "sealed1:%";

/** Encrypts the launch arguments of a few worker groups from before they were encrypted; returns how many. */
export async function encryptEarlierWorkerGroups(tx: Tx, encryption: Encryption, limit: number): Promise<number> {
  const { rows } = await sql<{ id: number; endpoint_group_id: EndpointGroupId; launch_args: string }>`
    select id, endpoint_group_id, launch_args from worker_groups
    where launch_args <> '' and launch_args not like ${SEALED}
    order by id limit ${limit} for no key update skip locked
  `.execute(tx.db);
  for (const { id, endpoint_group_id: endpointId, launch_args: args } of rows) {
    await sql`update worker_groups set launch_args = ${encryptArgs(args, endpointId, encryption)} where id = ${id}`.execute(
      tx.db,
    );
  }
  return rows.length;
}

/** Encrypts the variables of a few deployments from before they were encrypted; returns how many. */
export async function encryptEarlierDeployments(tx: Tx, encryption: Encryption, limit: number): Promise<number> {
  const { rows } = await sql<{ id: number; deployment_id: DeploymentId; env: string }>`
    select id, deployment_id, env from deployment_versions
    where env <> '' and env not like ${SEALED}
    order by id limit ${limit} for no key update skip locked
  `.execute(tx.db);
  for (const { id, deployment_id: deploymentId, env } of rows) {
    await sql`update deployment_versions set env = ${encryptEnv(env, { deploymentId }, encryption)} where id = ${id}`.execute(
      tx.db,
    );
  }
  return rows.length;
}
