import type { Clock } from "../../../base/clock.ts";
import { asId, type EndpointGroupId, type ServerId } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import type { Database } from "../../../db/connect.ts";
import type { ChannelHandler } from "../../../db/listener.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { notifyAgreement } from "../endpoints/store.ts";
import { REFRESH_MS, TEND_MS, type Routers } from "./routers.ts";

/** The servers of this database. */
export type Servers = {
  /** The id of this one; undefined when it is the only server. */
  readonly own: () => ServerId | undefined;
  /** The others that are not known to be dead. */
  readonly others: () => Promise<readonly ServerId[]>;
};

type AgreementPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Distinguishes this process from the others. */
  readonly processName: string;
  readonly routers: Pick<Routers, "takeIn">;
  readonly servers: Servers;
};

/** By then each server has read all its endpoints again by itself, whichever message was lost. */
const PATIENCE_MS = REFRESH_MS + TEND_MS;

/** One question to the other servers; `missing` are those that have not answered it. */
type Question = { readonly missing: Set<ServerId>; readonly answered: () => void };

/**
 * Makes a change of an endpoint hold for the next request at any server: the server that stored the change waits until
 * all others say that they route by it. A server that is silent is waited for until it has read the change by itself.
 */
export class Agreement {
  readonly #ports: AgreementPorts;
  readonly #questions = new Map<number, Question>();
  readonly #working = new Set<Promise<void>>();
  #askedCount = 0;

  constructor(ports: AgreementPorts) {
    this.#ports = ports;
  }

  /** `ask PROCESS NUMBER ENDPOINT` from a server that waits, and `done PROCESS NUMBER SERVER` as the answer to it. */
  readonly channel: ChannelHandler = {
    onMessage: (payload) => {
      const [kind, process = "", question = "", subject = ""] = payload.split(" ");
      const isOwn = process === this.#ports.processName;
      if (kind === "done" && isOwn) this.#hear(Number(question), asId<ServerId>(Number(subject)));
      if (kind === "ask" && !isOwn) {
        this.#track(this.#answer(`${process} ${question}`, asId<EndpointGroupId>(Number(subject))));
      }
    },
    // A server whose question or answer was lost waits until the others have read the endpoint by themselves.
    onGap: () => {},
  };

  /** Resolves when all servers route by the stored state of the endpoint. Never throws: the change is stored. */
  async reach(id: EndpointGroupId): Promise<void> {
    const { routers, log } = this.#ports;
    const outcomes = await Promise.allSettled([routers.takeIn(id), this.#askOthers(id)]);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        log.warn({ err: outcome.reason, endpoint_id: id }, "a changed endpoint could not be made known to all routers");
      }
    }
  }

  /** Resolves when all questions of other servers are answered. */
  async idle(): Promise<void> {
    await Promise.all(this.#working);
  }

  async #askOthers(id: EndpointGroupId): Promise<void> {
    const { clock, log, processName, servers } = this.#ports;
    const missing = new Set(await servers.others());
    if (missing.size === 0) return;
    this.#askedCount += 1;
    const number = this.#askedCount;
    const over = new AbortController();
    this.#questions.set(number, { missing, answered: () => over.abort() });
    try {
      await this.#send(`ask ${processName} ${number} ${id}`);
      await clock.sleep(PATIENCE_MS, over.signal);
      if (missing.size === 0) return;
      log.warn({ endpoint_id: id, server_ids: [...missing] }, "servers did not say that they route by a change");
    } finally {
      this.#questions.delete(number);
    }
  }

  #hear(number: number, server: ServerId): void {
    const question = this.#questions.get(number);
    question?.missing.delete(server);
    if (question?.missing.size === 0) question.answered();
  }

  async #answer(question: string, id: EndpointGroupId): Promise<void> {
    const { routers, servers, log } = this.#ports;
    try {
      await routers.takeIn(id);
      const own = servers.own();
      if (own !== undefined) await this.#send(`done ${question} ${own}`);
    } catch (error) {
      log.warn({ err: error, endpoint_id: id }, "another server could not be told that its change is routed by");
    }
  }

  async #send(payload: string): Promise<void> {
    const { database, clock } = this.#ports;
    await withTransaction(database, clock, (tx) => notifyAgreement(tx, payload));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}
