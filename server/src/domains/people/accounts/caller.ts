import type { Identity } from "../../../base/identity.ts";

/** The identity and address of a request. */
export type Caller = { readonly identity: Identity; readonly ipAddress: string };
