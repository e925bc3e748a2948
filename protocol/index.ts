export * from "./desired.ts";
export * from "./facts.ts";
export * from "./messages.ts";
export * from "./observed.ts";
export * from "./tasks.ts";
export * from "./transfer.ts";
export { decodeAgentMessage, decodeServerMessage } from "./decode.ts";
