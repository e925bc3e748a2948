import type { FastifyRequest } from "fastify";
import type { Tx } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { recordAudit } from "../../people/accounts/index.ts";
import type { HostRequest } from "./own-machine.ts";

export const TAGS = ["Machines"];
export const SUCCESS = { success: true } as const;

type WithId = FastifyRequest<{ Params: { id: number } }>;

export function requestOf(request: WithId): HostRequest {
  return { hostId: identityOf(request).userId, machineId: request.params.id };
}

/** Runs a change and writes its event to the audit log in one transaction. */
export function audited({ mutate }: HttpScope) {
  return <T>(request: FastifyRequest, args: Readonly<Record<string, unknown>>, work: (tx: Tx) => Promise<T>) =>
    mutate(request, async (tx) => {
      const answer = await work(tx);
      const action = request.routeOptions.config.access?.operation ?? "";
      await recordAudit(tx, identityOf(request), { ipAddress: request.ip, action, args });
      return answer;
    });
}
