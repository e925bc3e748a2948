/**
 * How an agent and a server know each other at an address at which the agent did not join. The agent's credential stays at
 * home: to any further address the agent shows a pass made for that address alone, which no other server takes, and it says
 * nothing before the server has proven, by a challenge, that it has the same key and publishes that address.
 */
import { Type, type Static } from "typebox";

/** The header in which an agent that shows a pass challenges the server. */
export const CHALLENGE_HEADER = "berth-challenge";
/** The header in which the server answers the challenge. */
export const PROOF_HEADER = "berth-proof";

/** Addresses that one agent keeps, and that all servers of an installation publish together. */
export const SERVER_ADDRESSES_MAX = 16;

const Address = Type.String({ minLength: 1, maxLength: 300 });
export const ServerAddresses = Type.Array(Address, { maxItems: SERVER_ADDRESSES_MAX });

/** The servers of an installation, as an agent that joined is told: their addresses, and the key for passes. */
export const ServerList = Type.Object({
  /** Addresses as `parseServerUrl` writes them in `apiUrl`. */
  addresses: ServerAddresses,
  /** The id of the agent's credential and the key that passes are made with, joined by a dot. */
  pass_key: Type.String({ pattern: "^\\d{1,10}\\.[A-Za-z0-9_-]{43}$" }),
});
export type ServerList = Static<typeof ServerList>;

const PASS = /^berth-pass\.(\d{1,10})\.([A-Za-z0-9_-]{43})$/;
const CHALLENGE = /^[A-Za-z0-9_-]{16,64}$/;

/** The pass that an agent shows in place of its credential. The signature is an HMAC-SHA256 of `passText` in base64url. */
export function writePass(credentialId: string, signature: string): string {
  return `berth-pass.${credentialId}.${signature}`;
}

/** The id of the credential that a pass stands for, and its signature; undefined for what is no pass. */
export function readPass(token: string): { readonly credentialId: number; readonly signature: string } | undefined {
  const [, id, signature] = PASS.exec(token) ?? [];
  return id === undefined || signature === undefined ? undefined : { credentialId: Number(id), signature };
}

/** The text that an agent signs to show that it has the key: good at this address alone. */
export function passText(address: string): string {
  return `berth pass of the agent\n${address}`;
}

/** The text that a server with this address signs in answer to a challenge; undefined for a malformed challenge. */
export function proofText(address: string, challenge: string): string | undefined {
  return CHALLENGE.test(challenge) ? `berth pass of the server\n${address}\n${challenge}` : undefined;
}
