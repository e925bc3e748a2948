import type { Clock } from "../../../../base/clock.ts";
import { isFields } from "../rules/fields.ts";
import { codeOf, pin, requestPinned, type Outside, type PinnedAnswer } from "../../../../base/pinned-request.ts";
import { readChallenge, readNextLink, type Challenge } from "./rules/challenge.ts";

/** A question may take this long, with all requests that it needs. */
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 1_048_576;
const TAGS_PER_PAGE = 1_000;
const PAGES_MAX = 10;
const REPOSITORIES_MAX = 1_000;
const NAME_LENGTH_MAX = 512;

export type RegistryLogin = { readonly username: string; readonly token: string };

/** The answer of a registry, or the reason why there is none. */
export type Asked<Value> =
  | { readonly kind: "found"; readonly value: Value }
  /** The registry knows no such thing. */
  | { readonly kind: "missing" }
  /** The registry asks for a login, or refuses the one that was sent. */
  | { readonly kind: "denied" }
  /** The registry, or the place where it gives tokens, is in a private network. */
  | { readonly kind: "private" }
  | { readonly kind: "failed"; readonly text: string };

export type RegistryCheck = {
  /** False when the registry asks for no login. */
  readonly isChecked: boolean;
  /** Repositories that the registry names; few registries do. */
  readonly repositories: readonly string[];
};

/** Questions to registries of container images. A login goes only to the registry, and to where it gives tokens. */
export type RegistryClient = {
  listTags(registry: string, repository: string, login?: RegistryLogin): Promise<Asked<readonly string[]>>;
  check(registry: string, login: RegistryLogin): Promise<Asked<RegistryCheck>>;
};

type Failure = Exclude<Asked<never>, { readonly kind: "found" }>;

/** Ends a question with a failure that the caller learns. */
class Unanswered extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** A client for registries, which any user chooses: it reaches public ones only, unless this network is allowed. */
export function createRegistryClient({ clock, ...outside }: Outside & { readonly clock: Clock }): RegistryClient {
  /** The answer of `work`, which ends at the time limit. */
  const within = async <Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Asked<Value>> => {
    const over = new AbortController();
    void clock.sleep(TIMEOUT_MS, over.signal).then(() => over.abort());
    try {
      return { kind: "found", value: await work(over.signal) };
    } catch (error) {
      if (error instanceof Unanswered) return error.failure;
      if (over.signal.aborted) return { kind: "failed", text: "did not answer in time" };
      return { kind: "failed", text: `could not be reached (${codeOf(error)})` };
    } finally {
      over.abort();
    }
  };

  const askedBy = (registry: string, login: RegistryLogin | undefined, signal: AbortSignal) =>
    new Questions(registry, { login, outside, signal });

  return {
    listTags: (registry, repository, login) =>
      within(async (signal) => {
        const questions = askedBy(registry, login, signal);
        const tags: string[] = [];
        let next: string | URL | undefined = `/v2/${repository}/tags/list?n=${TAGS_PER_PAGE}`;
        for (let page = 0; next !== undefined && page < PAGES_MAX; page += 1) {
          const answer: PinnedAnswer = await questions.ask(next);
          tags.push(...namesIn(answer, "tags", TAGS_PER_PAGE));
          next = questions.nextPage(answer);
        }
        return tags;
      }),
    check: (registry, login) =>
      within(async (signal) => {
        const questions = askedBy(registry, login, signal);
        await questions.ask("/v2/");
        return { isChecked: questions.isChallenged, repositories: await listRepositories(questions) };
      }),
  };
}

/** Registries may keep the list of their repositories to themselves: it is empty then. */
async function listRepositories(questions: Questions): Promise<readonly string[]> {
  try {
    const answer = await questions.ask(`/v2/_catalog?n=${REPOSITORIES_MAX}`);
    return namesIn(answer, "repositories", REPOSITORIES_MAX);
  } catch (error) {
    if (error instanceof Unanswered) return [];
    throw error;
  }
}

/** Questions to one registry, with what it gave as a token for the answers. */
class Questions {
  /** True once the registry asked for a login. */
  isChallenged = false;
  readonly #origin: string;
  readonly #login: RegistryLogin | undefined;
  readonly #outside: Outside;
  readonly #signal: AbortSignal;

  constructor(
    registry: string,
    means: { readonly login: RegistryLogin | undefined; readonly outside: Outside; readonly signal: AbortSignal },
  ) {
    this.#origin = originOf(registry, means.outside);
    this.#login = means.login;
    this.#outside = means.outside;
    this.#signal = means.signal;
  }

  /** The answer to a GET at a path, or at a page of this registry, with the login if the registry asks for one. */
  async ask(target: string | URL): Promise<PinnedAnswer> {
    const url = new URL(target, this.#origin);
    const first = await this.#get(url, {});
    if (first.status !== 401) return judged(first);
    this.isChallenged = true;
    const challenge = readChallenge(first.headers["www-authenticate"]);
    if (challenge === undefined) throw new Unanswered({ kind: "denied" });
    return judged(await this.#get(url, { authorization: await this.#authorize(challenge) }));
  }

  /** The page after this answer, at the same registry; undefined on the last page. */
  nextPage({ headers }: PinnedAnswer): URL | undefined {
    const { link } = headers;
    const next = readNextLink(Array.isArray(link) ? link[0] : link);
    if (next === undefined || !URL.canParse(next, this.#origin)) return undefined;
    const url = new URL(next, this.#origin);
    // The whole address goes on: a path that begins with two slashes would lead to another host.
    return url.origin === this.#origin ? url : undefined;
  }

  async #authorize(challenge: Challenge): Promise<string> {
    const basic = this.#login && basicOf(this.#login);
    if (challenge.kind === "basic") {
      if (basic === undefined) throw new Unanswered({ kind: "denied" });
      return basic;
    }
    const url = realmOf(challenge, this.#outside);
    const answer = judged(await this.#get(url, basic === undefined ? {} : { authorization: basic }));
    const given = jsonIn(answer);
    const token = given["token"] ?? given["access_token"];
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) throw new Unanswered({ kind: "denied" });
    return `Bearer ${token}`;
  }

  async #get(url: URL, headers: Readonly<Record<string, string>>): Promise<PinnedAnswer> {
    const pinned = await pin(url, this.#outside, this.#signal);
    if (pinned.kind === "private") throw new Unanswered({ kind: "private" });
    if (pinned.kind === "unknown") throw new Unanswered({ kind: "failed", text: "has no address" });
    return requestPinned(url, pinned, {
      method: "GET",
      headers: { accept: "application/json", ...headers },
      bytesMax: ANSWER_BYTES_MAX,
      signal: this.#signal,
    });
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** As for engines, a registry on the machine itself has no TLS; it is asked only where private addresses are allowed. */
function originOf(registry: string, { isPrivateAllowed }: Outside): string {
  const text = `${isPrivateAllowed && LOOPBACK.test(registry) ? "http" : "https"}://${registry}/`;
  if (!URL.canParse(text)) throw new Unanswered({ kind: "failed", text: "has no valid name" });
  return new URL(text).origin;
}

function realmOf({ realm, service, scope }: Extract<Challenge, { readonly kind: "bearer" }>, outside: Outside): URL {
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  const isFit = url?.protocol === "https:" || (url?.protocol === "http:" && outside.isPrivateAllowed);
  if (url === undefined || !isFit || url.username !== "" || url.password !== "") {
    throw new Unanswered({ kind: "failed", text: "gives its tokens at an address that is no https address" });
  }
  if (service !== "") url.searchParams.set("service", service);
  if (scope !== "") url.searchParams.set("scope", scope);
  return url;
}

function basicOf({ username, token }: RegistryLogin): string {
  return `Basic ${Buffer.from(`${username}:${token}`).toString("base64")}`;
}

/** The answer, when it is one. A redirect is none: it could lead anywhere. */
function judged(answer: PinnedAnswer): PinnedAnswer {
  const { status, ending } = answer;
  if (status === 401 || status === 403) throw new Unanswered({ kind: "denied" });
  if (status === 404) throw new Unanswered({ kind: "missing" });
  if (status !== 200) throw new Unanswered({ kind: "failed", text: `answered ${status}` });
  if (ending === "cut") throw new Unanswered({ kind: "failed", text: "answered with more than can be read" });
  if (ending === "broken") throw new Unanswered({ kind: "failed", text: "broke off in the middle of its answer" });
  return answer;
}

function jsonIn({ body }: PinnedAnswer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (isFields(value)) return value;
  } catch {
    // The failure below says it.
  }
  throw new Unanswered({ kind: "failed", text: "did not answer as a registry does" });
}

/** The names in a member of the answer; a registry may send null for none, and anything that is no name is left out. */
function namesIn(answer: PinnedAnswer, member: string, countMax: number): readonly string[] {
  const names = jsonIn(answer)[member] ?? [];
  if (!Array.isArray(names)) throw new Unanswered({ kind: "failed", text: "did not answer as a registry does" });
  const fit = (name: unknown): name is string =>
    typeof name === "string" && name !== "" && name.length <= NAME_LENGTH_MAX && name.isWellFormed();
  return names.filter(fit).slice(0, countMax);
}
