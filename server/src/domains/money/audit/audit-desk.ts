import type { Clock } from "../../../base/clock.ts";
import type { FactHead } from "../../../base/facts.ts";
import type { Log } from "../../../base/log.ts";
import type { Database } from "../../../db/connect.ts";
import { audit, type AuditReport } from "./audit-service.ts";

/** Time for which a request waits for its audit; after that the client asks again. */
const WAIT_MS = 20_000;

/** Age from which a report that nobody fetched is replaced by a new audit. */
const KEPT_MS = 600_000;

type Run = { readonly startedAt: Date; readonly done: Promise<AuditReport>; endedAt: Date | undefined };

/** `against` is the head of an earlier export; the chain of facts must continue from it. */
type AuditWish = { readonly isFull: boolean; readonly against?: FactHead | undefined };

/** The answer to a request: the report, or the start of the audit that is running. */
export type AuditAnswer =
  | { readonly kind: "finished"; readonly report: AuditReport }
  | { readonly kind: "running"; readonly startedAt: Date };

/**
 * Runs audits on request. One audit of a kind runs at a time, since each reads much; requests that come meanwhile get
 * the same one. The report of a long audit is kept until it is asked for again.
 */
export class AuditDesk {
  readonly #deps: { readonly database: Database; readonly clock: Clock };
  readonly #log: Log;
  readonly #runs = new Map<string, Run>();

  constructor(deps: { readonly database: Database; readonly clock: Clock }, log: Log) {
    this.#deps = deps;
    this.#log = log;
  }

  async ask({ isFull, against }: AuditWish): Promise<AuditAnswer> {
    const name = against === undefined ? String(isFull) : `${isFull} ${against.number} ${against.sha256}`;
    const known = this.#runs.get(name);
    const run = known === undefined || this.#isOld(known) ? this.#begin(name, { isFull, against }) : known;
    const over = new AbortController();
    const late = this.#deps.clock.sleep(WAIT_MS, over.signal).then(() => undefined);
    try {
      const report = await Promise.race([run.done, late]);
      if (report === undefined) return { kind: "running", startedAt: run.startedAt };
      this.#forget(name, run);
      return { kind: "finished", report };
    } catch (error) {
      this.#forget(name, run);
      throw error;
    } finally {
      over.abort();
    }
  }

  /** Resolves when no audit is being made. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#runs.values()].map(({ done }) => done));
  }

  #begin(name: string, wish: AuditWish): Run {
    const done = audit(this.#deps, wish);
    const run: Run = { startedAt: this.#deps.clock.now(), done, endedAt: undefined };
    this.#runs.set(name, run);
    // The next request is answered with the failure; until then nobody may be waiting for it.
    done
      .catch((error: unknown) => this.#log.warn({ err: error }, "an audit could not be made"))
      .finally(() => (run.endedAt = this.#deps.clock.now()));
    return run;
  }

  #isOld({ endedAt }: Run): boolean {
    return endedAt !== undefined && this.#deps.clock.now().getTime() - endedAt.getTime() > KEPT_MS;
  }

  #forget(name: string, run: Run): void {
    if (this.#runs.get(name) === run) this.#runs.delete(name);
  }
}
