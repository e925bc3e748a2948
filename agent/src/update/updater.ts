import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { compareVersions, releasePath, type AgentRelease, type UpdateResult } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { versionFolder, type LastUpdate, type Unpacked } from "./book.ts";
import type { ReleaseKey } from "./release-key.ts";
import { unpack } from "./unpack.ts";

/** An offer of a server, with the address that said it. */
export type Offer = {
  readonly release: AgentRelease | undefined;
  readonly releaseKey: string | undefined;
  /** True for the server at which this machine joined. */
  readonly isHome: boolean;
  readonly apiUrl: string;
};

export type UpdaterInput = {
  readonly stateDir: string;
  readonly ownVersion: string;
  readonly key: ReleaseKey;
  readonly last: LastUpdate | undefined;
  readonly log: Log;
  readonly fetch: typeof fetch;
  readonly clock: Pick<Clock, "sleep">;
  /** Tells the launcher the version to start in place of this one. */
  readonly startNext: (next: Unpacked) => void;
  /** Tells the launcher, and the server, that a release was refused. */
  readonly refused: (last: LastUpdate) => void;
};

const DOWNLOAD_LIMIT_MS = 600_000;
/** A server that was asked behind a proxy may have another version than the one that made the offer. */
const [TRIES, TRY_EVERY_MS] = [10, 60_000];

/** Brings this agent to the version that its server offers: nothing runs that the key of the installation did not sign. */
export class Updater {
  readonly #input: UpdaterInput;
  #last: LastUpdate | undefined;
  #isBusy = false;

  constructor(input: UpdaterInput) {
    this.#input = input;
    this.#last = input.last;
  }

  /** The end of the last attempt, as the server is told. */
  get result(): UpdateResult | undefined {
    return this.#last?.result;
  }

  /** Takes an offer. Never throws: a download that fails is tried some times more, and again at the next welcome. */
  async offer({ release, releaseKey, isHome, apiUrl }: Offer): Promise<void> {
    const { key, ownVersion } = this.#input;
    if (isHome && releaseKey !== undefined) key.learn(releaseKey);
    if (release === undefined || this.#isBusy) return;
    if (this.#last?.sha256 === release.sha256 && this.#last.result.outcome !== "done") return;
    if (release.version === ownVersion) return;
    this.#isBusy = true;
    for (let tries = 1; !(await this.#take(release, apiUrl)) && tries < TRIES; tries += 1) {
      await this.#input.clock.sleep(TRY_EVERY_MS);
    }
    this.#isBusy = false;
  }

  /** Returns false when the release could not be fetched. */
  async #take(release: AgentRelease, apiUrl: string): Promise<boolean> {
    const { key, ownVersion, log } = this.#input;
    const { version } = release;
    try {
      const problem =
        key.problemOf(release) ??
        (compareVersions(version, ownVersion) < 0 ? `it is older than ${ownVersion}, which runs here` : undefined);
      const wrong = problem ?? (await this.#fetch(release, apiUrl));
      if (wrong !== undefined) {
        this.#refuse(release, wrong);
        return true;
      }
      log.info({ version }, "a newer agent is here; it takes over, containers run on");
      this.#input.startNext({ version, sha256: release.sha256 });
      return true;
    } catch (cause) {
      log.warn({ version, problem: String(cause) }, "the newer agent could not be fetched");
      return false;
    }
  }

  #refuse({ version, sha256 }: AgentRelease, problem: string): void {
    this.#input.log.warn({ version, problem }, "the newer agent that the server offers is refused");
    this.#last = { result: { version, outcome: "refused", problem }, sha256 };
    this.#input.refused(this.#last);
  }

  /** Downloads and unpacks; returns a sentence when what came is not what was signed. */
  async #fetch(release: AgentRelease, apiUrl: string): Promise<string | undefined> {
    const { stateDir } = this.#input;
    const folder = versionFolder(stateDir, release);
    const draft = `${folder}.draft`;
    const response = await this.#input.fetch(`${apiUrl}${releasePath(release.sha256)}`, {
      redirect: "error",
      signal: AbortSignal.timeout(DOWNLOAD_LIMIT_MS),
    });
    if (response.status !== 200 || response.body === null) throw new Error(`the server answers ${response.status}`);
    // The whole archive is read and checked before anything of it is unpacked.
    const archive = await readUpTo(response.body, release.bytes);
    const digest = archive && createHash("sha256").update(archive).digest("hex");
    if (archive?.length !== release.bytes || digest !== release.sha256) return "the download is not what was signed";
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    await unpack(archive, draft);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(path.dirname(folder), { recursive: true });
    renameSync(draft, folder);
    return undefined;
  }
}

/** The bytes of a body; undefined when there are more than the release has. */
async function readUpTo(body: ReadableStream<Uint8Array>, limit: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
