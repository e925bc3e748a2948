import { randomBytes } from "node:crypto";
import { CHALLENGE_HEADER, parseServerUrl, SERVER_ADDRESSES_MAX, type ServerUrls } from "../../../protocol/index.ts";
import type { ServerList } from "../wire/messages.ts";
import { isServerProof, makePass } from "./server-pass.ts";
import type { ServersStore } from "./servers-store.ts";
import { isUnencrypted } from "./server-url.ts";

const CHALLENGE_BYTES = 24;

export type KnownServersInput = {
  /** The server at which this machine joined: the only one that sees its credential. */
  readonly home: ServerUrls;
  readonly token: string;
  /** Further addresses that the host's operator gave. */
  readonly given?: readonly ServerUrls[];
  /** Keeps the servers over a restart. Without it addresses of servers are ignored, and home stays the only one. */
  readonly store?: ServersStore;
};

/** The addresses of the control plane that the agents of one process know, and what they show at each. */
export class KnownServers {
  readonly home: ServerUrls;
  readonly #token: string;
  readonly #given: readonly string[];
  readonly #store: ServersStore | undefined;
  #passKey: string | undefined;
  /** Addresses of the servers that live, as the last one said. */
  #live: readonly string[] = [];
  /** Addresses that servers told earlier: one that was away may be back while those of now are gone. */
  #former: readonly string[] = [];

  constructor({ home, token, given = [], store }: KnownServersInput) {
    this.home = home;
    this.#token = token;
    this.#given = given.map(({ apiUrl }) => apiUrl);
    this.#store = store;
    const kept = store?.load();
    if (kept?.home !== home.apiUrl) return;
    this.#passKey = kept.passKey;
    this.#live = this.#usable(kept.addresses);
  }

  /** The choice of servers of one host. */
  choose(random: () => number): ServerChoice {
    return new ServerChoice(this, random);
  }

  /** All addresses that may be tried: those that live in random order, then home, then the rest. */
  candidates(random: () => number): readonly string[] {
    const { apiUrl } = this.home;
    if (this.#passKey === undefined) return [apiUrl];
    const rest = shuffle([...this.#given, ...this.#former], random);
    return [...new Set([...shuffle(this.#live, random), apiUrl, ...rest])];
  }

  /** The agent's credential at home; at another address a pass that is good there alone. */
  bearer(address: string): string {
    if (address === this.home.apiUrl) return this.#token;
    return this.#passKey === undefined ? "" : makePass(this.#passKey, address);
  }

  /** True for a server of this installation at an address. Home need not prove it: the machine joined there. */
  isServer(address: string, { challenge, proof }: { readonly challenge: string; readonly proof: string }): boolean {
    if (address === this.home.apiUrl) return true;
    return this.#passKey !== undefined && isServerProof(this.#passKey, { address, challenge, proof });
  }

  learn({ addresses, passKey }: ServerList): void {
    if (this.#store === undefined) return;
    const isNewKey = passKey !== this.#passKey;
    this.#passKey = passKey;
    this.hear(addresses, isNewKey);
  }

  /** Notes which servers live now. */
  hear(addresses: readonly string[], isNewKey = false): void {
    if (this.#store === undefined || this.#passKey === undefined) return;
    const live = this.#usable(addresses);
    const isSame = live.length === this.#live.length && live.every((address) => this.#live.includes(address));
    if (isSame && !isNewKey) return;
    this.#former = [...new Set([...this.#live, ...this.#former])].slice(0, SERVER_ADDRESSES_MAX);
    this.#live = live;
    const kept = [...new Set([...live, ...this.#former])].slice(0, SERVER_ADDRESSES_MAX);
    this.#store.save({ home: this.home.apiUrl, passKey: this.#passKey, addresses: kept });
  }

  /** Others can read an unencrypted connection, so it is used only where the one to home is unencrypted, too. */
  #usable(addresses: readonly string[]): readonly string[] {
    return addresses.filter((address) => {
      const urls = parseServerUrl(address);
      return urls?.apiUrl === address && (!isUnencrypted(urls) || isUnencrypted(this.home));
    });
  }
}

/** One attempt to connect. */
export type Dial = {
  readonly socketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True when the answer to the handshake comes from a server of this installation. */
  readonly isAnsweredBy: (proof: string | undefined) => boolean;
};

/** The server that one host is connected to, and the one that it tries next. */
export class ServerChoice {
  readonly #known: KnownServers;
  readonly #random: () => number;
  #queue: readonly string[];
  #dialled: string;
  #settled: string;

  constructor(known: KnownServers, random: () => number) {
    this.#known = known;
    this.#random = random;
    const [first = known.home.apiUrl, ...rest] = known.candidates(random);
    this.#dialled = first;
    this.#queue = rest;
    this.#settled = known.home.apiUrl;
  }

  /** Number of addresses to try. */
  get count(): number {
    return this.#known.candidates(this.#random).length;
  }

  /** The server that welcomed this host last, which streams and requests of containers go to. */
  get urls(): ServerUrls {
    return parseServerUrl(this.#settled) ?? this.#known.home;
  }

  /** True when that is the server at which this machine joined. */
  get isAtHome(): boolean {
    return this.#settled === this.#known.home.apiUrl;
  }

  /** The credential or the pass for it. */
  get bearer(): string {
    return this.#known.bearer(this.#settled);
  }

  dial(): Dial {
    const address = this.#dialled;
    const { socketUrl } = parseServerUrl(address) ?? this.#known.home;
    const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
    const authorization = `Bearer ${this.#known.bearer(address)}`;
    return {
      socketUrl,
      headers: { authorization, [CHALLENGE_HEADER]: challenge },
      isAnsweredBy: (proof = "") => this.#known.isServer(address, { challenge, proof }),
    };
  }

  /** The server that was dialled has let this host in. */
  welcomed(servers: ServerList | undefined): void {
    this.#settled = this.#dialled;
    if (servers !== undefined) this.#known.learn(servers);
  }

  /** Notes which servers live now, when that has changed. */
  hear(addresses: readonly string[] | undefined): void {
    if (addresses !== undefined) this.#known.hear(addresses);
  }

  /** Goes on to the next address; each is tried once before any is tried again. */
  next(): void {
    if (this.#queue.length === 0) {
      const all = this.#known.candidates(this.#random);
      const others = all.filter((address) => address !== this.#dialled);
      this.#queue = others.length === 0 ? all : others;
    }
    const [first = this.#dialled, ...rest] = this.#queue;
    this.#dialled = first;
    this.#queue = rest;
  }
}

function shuffle(list: readonly string[], random: () => number): readonly string[] {
  return list
    .map((one) => [random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}
