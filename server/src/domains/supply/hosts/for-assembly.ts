// Exports that only assembly uses.
export { addressChallenger } from "./addresses/address-proof-service.ts";
export { admitAll, recordClone } from "./sessions/admission.ts";
export { AgentGateway, type AgentPorts, type LastWord } from "./sessions/agent-gateway.ts";
export { countConnectedGpus, countGpuFailures, countGpus } from "./machines/device-store.ts";
export { readAgentSilence, type AgentSilence } from "./machines/found-store.ts";
export { listHostsAmong } from "./machines/supply-store.ts";
export { listOwnSimulated } from "./machines/hardware-store.ts";
export { inventHistory } from "./presence/invented-history.ts";
export { AgentPasses, type PublishedAddresses } from "./sessions/agent-passes.ts";
export { listRevoked, REVOKED_CHANNEL } from "./join/store.ts";
export { hostLoops } from "./loops.ts";
export {
  announceTunnel,
  findConnection,
  findConnectionNamed,
  listConnectedFrom,
  TUNNELS_CHANNEL,
} from "./sessions/connection-store.ts";
export { findSharedAddresses } from "./addresses/shared-addresses.ts";
export { confirmProof } from "./sessions/proof-store.ts";
export { restartPresence } from "./presence/presence-store.ts";
export { SESSIONS_CHANNEL } from "./sessions/session-channel-store.ts";
export { disconnectServers, disconnectUnowned } from "./sessions/server-end-store.ts";
export type { Arrival } from "./join/registration-store.ts";
export { hostRoutes } from "./join/routes.ts";
export { MARKET_CHANNEL } from "./market-channel-store.ts";
export { hashToken, issueAgentToken } from "./service.ts";
export { findCredentials, findCredentialsById, markDisconnected, type Departure } from "./store.ts";
export { trustRoutes } from "./trust/routes.ts";
export { proofMaker, type ProofMaker } from "./sessions/rules/session-proof.ts";
export { DELETED_CHANNEL } from "./terms/terms-store.ts";
export { findNonsense, senselessFacts } from "./flags/fact-sense.ts";
export { listHostDoubts } from "./flags/doubt-store.ts";
export { flagRoutes } from "./flags/routes.ts";
export { listUplinksToMeasure } from "./uplinks/probe-store.ts";
export { storeUplinkProbe } from "./uplinks/probe-service.ts";
export { flagSenseless } from "./flags/service.ts";
export { setTrafficRules } from "./terms/traffic-rules-store.ts";
export { setPriceCeilings } from "./terms/price-ceiling-store.ts";
export { countMachinesOf } from "./machines/belongings-store.ts";
