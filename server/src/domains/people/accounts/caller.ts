import type { Identity } from "../../../base/identity.ts";

/** Who asks, and the address that the request came from. */
export type Caller = { readonly identity: Identity; readonly ipAddress: string };
