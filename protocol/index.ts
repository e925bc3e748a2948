export { COPY_USER } from "./copy-user.ts";
export * from "./desired.ts";
export * from "./facts.ts";
export { decodeLogNote, LOG_NOTE_CHARACTERS_MAX, LogNote } from "./log-notes.ts";
export { estimateDlperf, findGpuModel, gpuModels } from "./gpu-models.ts";
export { Measurements } from "./measurements.ts";
export * from "./messages.ts";
export * from "./observed.ts";
export {
  hostOfRegistry,
  isInternetAddress,
  isPrivateRegistry,
  isRegistryAllowed,
  registryIn,
} from "./registry-address.ts";
export { AgentRelease, compareVersions, releasePath, releaseText, UpdateResult } from "./release.ts";
export { parseServerUrl, type ServerUrls } from "./server-address.ts";
export {
  CHALLENGE_HEADER,
  passText,
  PROOF_HEADER,
  proofText,
  readPass,
  SERVER_ADDRESSES_MAX,
  ServerList,
  writePass,
} from "./server-pass.ts";
export * from "./tasks.ts";
export * from "./transfer.ts";
export { decodeAgentMessage, decodeServerMessage } from "./decode.ts";
