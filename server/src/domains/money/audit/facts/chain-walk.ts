// Checks that the links of the chain are those that the server wrote.
import { hashLink, NO_HEAD, type FactHead, type FactSigner } from "../../../../base/facts.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { Tally } from "../rules/difference.ts";
import { countLooseFacts, findFactHead, findLinkHash, listLinks, type ReadLink } from "../../../../db/fact-store.ts";

const LINKS_PER_PAGE = 100;
const SUBJECTS_NAMED_MAX = 3;

export type ChainWalk = {
  readonly db: Reader;
  readonly tally: Tally;
  readonly signer: FactSigner;
  /** The last link that this process knew as committed before the audit's snapshot. */
  readonly witnessed: FactHead;
  /** The link before the first one that is read. */
  readonly before: FactHead;
  /** A head from an earlier export: the chain must continue from it. */
  readonly against: FactHead | undefined;
};

/** The result of a walk for the links themselves. */
export type Walked = {
  readonly linkCount: number;
  /** The times of links that differ from what was written; their rows are not reported again. */
  readonly brokenAtMs: ReadonlySet<number>;
};

/** Walks over all links from a place on, and lets `visit` read their facts. */
export async function walkChain(walk: ChainWalk, visit: (link: ReadLink) => Promise<void>): Promise<Walked> {
  const { db, tally, signer, before } = walk;
  const brokenAtMs = new Set<number>();
  let [last, linkCount, signature]: [FactHead, number, string] = [before, 0, ""];
  for (;;) {
    const page = await listLinks(db, { from: last.number + 1n, limit: LINKS_PER_PAGE });
    for (const link of page) {
      if (!checkLink(tally, last, link)) brokenAtMs.add(link.madeAt.getTime());
      last = { number: link.number, sha256: link.sha256 };
      signature = link.signature;
      linkCount += 1;
      await visit(link);
    }
    if (page.length < LINKS_PER_PAGE) break;
  }
  // Each hash covers all links before it, so the last signature binds them all.
  if (linkCount > 0 && !signer.isSigned(last, signature)) await nameForged(walk);
  await checkEnd(walk, last);
  return { linkCount, brokenAtMs };
}

function checkLink(tally: Tally, last: FactHead, link: ReadLink): boolean {
  const isNext = link.number === last.number + 1n;
  if (!isNext) {
    const stored = link.number === last.number + 2n ? "none" : `none up to ${link.number - 1n}`;
    const problem = "it was taken away: links are numbered without a gap";
    tally.differ("facts", { subject: `link ${last.number + 1n}`, problem, stored, expected: "a link" });
    return true;
  }
  const { sha256 } = hashLink(last, link.madeAt, link.texts);
  if (sha256 === link.sha256) return true;
  tally.differ("facts", {
    subject: `link ${link.number}`,
    problem: `a fact of it was changed, added or taken away: it is about ${subjectsOf(link)}`,
    stored: `${link.texts.length} facts, ${sha256.slice(0, 12)}…`,
    expected: `${link.factCount} facts, ${link.sha256.slice(0, 12)}…`,
  });
  return false;
}

function subjectsOf({ subjects }: ReadLink): string {
  if (subjects.length === 0) return "nothing any more";
  const named = subjects.slice(0, SUBJECTS_NAMED_MAX).join(", ");
  return subjects.length > SUBJECTS_NAMED_MAX ? `${named} and ${subjects.length - SUBJECTS_NAMED_MAX} more` : named;
}

/**
 * Reports the first link that the server did not sign: the writer of it and of all later ones did not have the server's
 * secret.
 */
async function nameForged({ db, tally, signer, before }: ChainWalk): Promise<void> {
  for (let after = before.number; ;) {
    const page = await listLinks(db, { from: after + 1n, limit: LINKS_PER_PAGE });
    const forged = page.find((link) => !signer.isSigned(link, link.signature));
    if (forged !== undefined) {
      tally.differ("facts", {
        subject: `link ${forged.number}`,
        problem: `the server did not sign it: it was forged, or the server had another secret; it is about ${subjectsOf(forged)}`,
        stored: forged.signature.slice(0, 12),
        expected: `a signature by ${signer.publicKey.slice(0, 12)}…`,
      });
      return;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}

/** Compares the end of the chain with its stored head, with the memory of this server, and with an earlier export. */
async function checkEnd({ db, tally, witnessed, against }: ChainWalk, last: FactHead): Promise<void> {
  const head = await findFactHead(db);
  const loose = await countLooseFacts(db, last.number + 1n);
  const witnesses: readonly (readonly [string, FactHead])[] = [
    ["the head of the chain names it", head],
    ["this server saw it", witnessed],
    ...(against === undefined ? [] : [["it was exported", against] as const]),
  ];
  const missed = witnesses.find(([, { number }]) => number > last.number);
  if (missed !== undefined) {
    const [why, { number }] = missed;
    const first = last.number + 1n;
    const subject = first === number ? `link ${number}` : `links ${first} to ${number}`;
    tally.differ("facts", { subject, problem: `taken away from the end: ${why}`, stored: "none", expected: "links" });
  } else if (loose > 0) {
    const problem = "they belong to no link";
    tally.differ("facts", { subject: "facts", problem, stored: String(loose), expected: "0" });
  }
  for (const [why, { number, sha256 }] of witnesses) {
    if (number === NO_HEAD.number || number > last.number) continue;
    const stored = await findLinkHash(db, number);
    if (stored === sha256) continue;
    const difference = { stored: stored?.slice(0, 12) ?? "none", expected: sha256.slice(0, 12) };
    tally.differ("facts", {
      subject: `link ${number}`,
      problem: `it is another link: ${why} with another hash`,
      ...difference,
    });
    return;
  }
}
