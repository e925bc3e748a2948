import type { UpdateResult } from "../../../../../../protocol/index.ts";
import type { AgentCredential, JoinToken } from "./store.ts";
import type { CredentialRecord, JoinTokenRecord } from "./schema.ts";

export function viewJoinToken(token: JoinToken): JoinTokenRecord {
  return {
    id: token.id,
    name: token.name,
    created_at: epochSeconds(token.createdAt),
    expires_at: epochSeconds(token.expiresAt),
    used_at: token.usedAt === undefined ? null : epochSeconds(token.usedAt),
    credential_id: token.credentialId ?? null,
  };
}

export function viewCredential(credential: AgentCredential): CredentialRecord {
  return {
    id: credential.id,
    name: credential.name,
    is_own_agent: !credential.hasJoined,
    created_at: epochSeconds(credential.createdAt),
    revoked_at: credential.revokedAt === undefined ? null : epochSeconds(credential.revokedAt),
    machines: credential.machines.map((machine) => ({
      id: machine.id,
      host_key: machine.hostKey,
      hostname: machine.hostname,
      is_simulated: machine.isSimulated,
      is_connected: machine.isConnected,
      last_seen_at: epochSeconds(machine.lastSeenAt),
      gpu_problems: [...machine.gpuProblems],
      agent_version: machine.agentVersion,
      agent_update: machine.agentUpdate === undefined ? null : describeUpdate(machine.agentUpdate),
      clone_noticed_at: machine.cloneDetectedAt === undefined ? null : epochSeconds(machine.cloneDetectedAt),
    })),
  };
}

function describeUpdate({ version, outcome, problem }: UpdateResult): string {
  return outcome === "done" ? `${version} done` : `${version} ${outcome.replace("_", " ")}: ${problem}`;
}

export function epochSeconds(time: Date): number {
  return time.getTime() / 1000;
}
