// All that the package berth-sdk exports: clients of a server and of an endpoint, and a function for each operation.
export * from "./client.ts";
export * from "./endpoint-client.ts";
export * from "./follow-events.ts";
export * from "./follow-logs.ts";
export * from "./operations.ts";
export * from "./timer.ts";
export * from "./upload.ts";
