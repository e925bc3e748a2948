import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

type Options = { readonly challenge: string };

/** Ways in which an authenticator may differ from a good one, or lie. */
export type Behaviour = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  /** True when a finger or a PIN made sure of the person, as by default. */
  readonly isPersonVerified?: boolean;
  /** The signatures counted so far, in place of the true number. */
  readonly count?: number;
};

type Site = { readonly origin: string; readonly rpId: string };

/** A passkey outside of any browser, for tests of what no browser sends. */
export class SoftPasskey {
  readonly id = randomBytes(32);
  readonly #site: Site;
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  #count = 0;
  #userHandle: string | undefined;

  constructor(site: Site) {
    this.#site = site;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#key = privateKey;
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    const key = [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ] as const;
    this.#publicKey = cbor(new Map<Cbor, Cbor>(key));
  }

  /** The key in COSE form. */
  get publicKey(): Buffer {
    return this.#publicKey;
  }

  /** The answer of a browser to the options of a new passkey. */
  create(
    options: Options & { readonly user: { readonly id: string } },
    behaviour: Behaviour = {},
    statement?: Statement,
  ) {
    this.#userHandle ??= options.user.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, this.#publicKey]);
    const { format = "none", entries = new Map<Cbor, Cbor>() } = statement ?? {};
    const object = new Map<Cbor, Cbor>([
      ["fmt", format],
      ["attStmt", entries],
      ["authData", this.#data(behaviour, attested)],
    ]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: this.#client("webauthn.create", options, behaviour).toString("base64url"),
        attestationObject: cbor(object).toString("base64url"),
        transports: ["internal"],
      },
    };
  }

  /** The answer of a browser to the options of a sign-in. */
  get(options: Options, behaviour: Behaviour = {}) {
    const data = this.#data(behaviour);
    const client = this.#client("webauthn.get", options, behaviour);
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: sign("sha256", signed, this.#key).toString("base64url"),
        ...(this.#userHandle === undefined ? {} : { userHandle: this.#userHandle }),
      },
    };
  }

  #credential() {
    const id = this.id.toString("base64url");
    return { id, rawId: id, type: "public-key", clientExtensionResults: {} };
  }

  #client(type: string, { challenge }: Options, behaviour: Behaviour): Buffer {
    const { origin = this.#site.origin } = behaviour;
    return Buffer.from(
      JSON.stringify({ type, challenge: behaviour.challenge ?? challenge, origin, crossOrigin: false }),
    );
  }

  #data({ rpId = this.#site.rpId, isPersonVerified = true, count }: Behaviour, attested?: Buffer): Buffer {
    this.#count += 1;
    const head = Buffer.alloc(5);
    head.writeUInt8((isPersonVerified ? 5 : 1) | (attested === undefined ? 0 : 64));
    head.writeUInt32BE(count ?? this.#count, 1);
    const site = createHash("sha256").update(rpId).digest();
    return Buffer.concat([site, head, ...(attested === undefined ? [] : [attested])]);
  }
}

/** An attestation that names a format and what it states. */
export type Statement = { readonly format: string; readonly entries: ReadonlyMap<Cbor, Cbor> };

export type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<Cbor, Cbor>;

/** The few forms of CBOR (RFC 8949) that an authenticator needs. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.byteLength), value]);
  if (value instanceof Map) {
    const entries: readonly (readonly [Cbor, Cbor])[] = [...value];
    return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]);
  }
  const items: readonly Cbor[] = Array.isArray(value) ? value : [];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  if (size < 256) return Buffer.from([(major << 5) | 24, size]);
  const bytes = Buffer.alloc(3);
  bytes.writeUInt8((major << 5) | 25);
  bytes.writeUInt16BE(size, 1);
  return bytes;
}
