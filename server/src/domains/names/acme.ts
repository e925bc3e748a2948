// Orders certificates from an ACME authority (RFC 8555).
import acme, { type Authorization, type Client } from "acme-client";
import type { Clock } from "../../base/clock.ts";

export type AcmeSettings = {
  readonly directoryUrl: string;
  /** The address that the authority may write to; undefined gives none. */
  readonly email: string | undefined;
  /** The account at the authority that a new key is bound to; undefined where the authority needs none. */
  readonly externalAccount: { readonly kid: string; readonly hmacKey: string } | undefined;
};

export type ChallengeKind = "http-01" | "dns-01";

/** Makes the answers to challenges reachable, and takes them away again. */
export type Responder = {
  readonly present: (challenge: PresentedChallenge) => Promise<void>;
  readonly remove: (challenge: PresentedChallenge) => Promise<void>;
};

export type PresentedChallenge = {
  readonly kind: ChallengeKind;
  /** The host name without a star. */
  readonly host: string;
  readonly token: string;
  /** The text to serve, or the value of the TXT record. */
  readonly answer: string;
};

export type Order = {
  readonly name: string;
  readonly kind: ChallengeKind;
  /** The account's key in PEM. */
  readonly accountKey: string;
  readonly responder: Responder;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const REQUEST_LIMIT_MS = 30_000;
const POLL_MS = 1_000;
/** Asked so often at most: about three minutes in all. */
const POLLS_MAX = 180;

// One try for each request: the library would wait as long as the authority says, which may be hours. The next order is later.
Object.assign(acme.axios.defaults, {
  timeout: REQUEST_LIMIT_MS,
  acmeSettings: { retryMaxAttempts: 0, retryDefaultDelay: 1 },
});

/** A new key for an account or a certificate, in PEM. */
export async function makeKey(): Promise<string> {
  return (await acme.crypto.createPrivateEcdsaKey("P-256")).toString();
}

/** Orders a certificate for one name with a new key. Throws, with the authority's reason, when it is refused. */
export async function orderCertificate(
  { directoryUrl, email, externalAccount }: AcmeSettings,
  { name, kind, accountKey, responder, clock, signal }: Order,
): Promise<{ readonly chainPem: string; readonly keyPem: string }> {
  const client = new acme.Client({
    directoryUrl,
    accountKey,
    ...(externalAccount === undefined ? {} : { externalAccountBinding: externalAccount }),
  });
  const poll = async () => {
    await clock.sleep(POLL_MS, signal);
    signal.throwIfAborted();
  };
  await client.createAccount({
    termsOfServiceAgreed: true,
    ...(email === undefined ? {} : { contact: [`mailto:${email}`] }),
  });
  const order = await client.createOrder({ identifiers: [{ type: "dns", value: name }] });
  for (const authorization of await client.getAuthorizations(order)) {
    signal.throwIfAborted();
    if (authorization.status !== "valid") await authorize(client, authorization, { kind, responder, poll });
  }
  const [key, request] = await acme.crypto.createCsr({ altNames: [name] }, await makeKey());
  await client.finalizeOrder(order, request);
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const now = await client.getOrder(order);
    if (now.status === "valid") return { chainPem: await client.getCertificate(now), keyPem: key.toString() };
    if (now.status === "invalid") throw new Error("the authority refused the order after all challenges");
    await poll();
  }
  throw new Error("the authority did not issue the certificate in time");
}

type Means = Pick<Order, "kind" | "responder"> & { readonly poll: () => Promise<void> };

async function authorize(
  client: Client,
  authorization: Authorization,
  { kind, responder, poll }: Means,
): Promise<void> {
  const { identifier, challenges } = authorization;
  const challenge = challenges.find(({ type }) => type === kind);
  if (challenge === undefined) throw new Error(`the authority offers no challenge ${kind} for ${identifier.value}`);
  const answer = await client.getChallengeKeyAuthorization(challenge);
  const presented = { kind, host: identifier.value, token: challenge.token, answer };
  try {
    await responder.present(presented);
    await client.completeChallenge(challenge);
    await untilValid(client, authorization, poll);
  } finally {
    await responder.remove(presented);
  }
}

async function untilValid(client: Client, { url, identifier }: Authorization, poll: Means["poll"]): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const [now] = await client.getAuthorizations({
      url: "",
      status: "pending",
      identifiers: [],
      authorizations: [url],
      finalize: "",
    });
    if (now?.status === "valid") return;
    if (now?.status === "invalid") {
      const reason = now.challenges.map(({ error }) => detailOf(error)).find((detail) => detail !== undefined);
      throw new Error(`the authority could not check ${identifier.value}: ${reason ?? "it gives no reason"}`);
    }
    await poll();
  }
  throw new Error(`the authority did not check ${identifier.value} in time`);
}

function detailOf(error: object | undefined): string | undefined {
  const detail: unknown = error && Reflect.get(error, "detail");
  return typeof detail === "string" ? detail : undefined;
}
