// The way of the credit of a disputed payment, and the amounts that come back along it.

/** Credit that went from one account to another, by their names, less the amounts that came back or were taken back. */
export type TracedEdge = { readonly from: string; readonly to: string; readonly nanos: bigint };

/** An amount taken from the account at the end of a path; the path begins behind the payer. */
export type TracedPart = { readonly path: readonly string[]; readonly amount: bigint };

type Flows = Map<string, Map<string, bigint>>;

/**
 * Plans the amounts to take back, nearest accounts first, equally near ones in the order of the edges. The plan takes
 * the most that edges and cash allow: no account gives more than reached it from the payer, nor more than its cash, and
 * an amount that was sent on counts at one account only. The rest is missing.
 */
export function planTracing(
  wantedNanos: bigint,
  {
    payer,
    edges,
    cashOf,
  }: { readonly payer: string; readonly edges: readonly TracedEdge[]; readonly cashOf: ReadonlyMap<string, bigint> },
): { readonly parts: readonly TracedPart[]; readonly missingNanos: bigint } {
  const left: Flows = new Map();
  const flows: Flows = new Map();
  for (const { from, to, nanos } of edges) if (nanos > 0n && to !== payer) add(left, from, to, nanos);
  const takenOf = new Map<string, bigint>();
  const cashLeft = (name: string) => (name === payer ? 0n : (cashOf.get(name) ?? 0n) - (takenOf.get(name) ?? 0n));
  let missing = wantedNanos > 0n ? wantedNanos : 0n;
  while (missing > 0n) {
    const path = shortestPath(left, payer, (name) => cashLeft(name) > 0n);
    const end = path?.at(-1);
    if (path === undefined || end === undefined) break;
    const amount = least(missing, cashLeft(end), ...stepsOf(payer, path).map(([from, to]) => read(left, from, to)));
    for (const [from, to] of stepsOf(payer, path)) {
      add(left, from, to, -amount);
      // An amount that was sent on may be routed over other edges, as long as it ends at an account.
      add(left, to, from, amount);
      pass(flows, { from, to, amount });
    }
    takenOf.set(end, (takenOf.get(end) ?? 0n) + amount);
    missing -= amount;
  }
  return { parts: partsOf(payer, flows, takenOf), missingNanos: missing };
}

/** Divides the flows into paths, each of which ends at an account that gives money back. */
function partsOf(payer: string, flows: Flows, takenOf: ReadonlyMap<string, bigint>): readonly TracedPart[] {
  const due = new Map(takenOf);
  const parts: TracedPart[] = [];
  for (;;) {
    const path = shortestPath(flows, payer, (name) => (due.get(name) ?? 0n) > 0n);
    const end = path?.at(-1);
    if (path === undefined || end === undefined) return parts;
    const amount = least(due.get(end) ?? 0n, ...stepsOf(payer, path).map(([from, to]) => read(flows, from, to)));
    for (const [from, to] of stepsOf(payer, path)) add(flows, from, to, -amount);
    due.set(end, (due.get(end) ?? 0n) - amount);
    parts.push({ path, amount });
  }
}

/** The shortest path over edges above zero, without its beginning; undefined when there is none. */
function shortestPath(edges: Flows, start: string, isEnd: (name: string) => boolean): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const name of queue) {
    if (name !== start && isEnd(name)) return pathTo(name, start, cameFrom);
    for (const [to, nanos] of edges.get(name) ?? []) {
      if (nanos <= 0n || to === start || cameFrom.has(to)) continue;
      cameFrom.set(to, name);
      queue.push(to);
    }
  }
  return undefined;
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const path: string[] = [];
  for (let name: string | undefined = end; name !== undefined && name !== start; name = cameFrom.get(name)) {
    path.unshift(name);
  }
  return path;
}

function stepsOf(payer: string, path: readonly string[]): readonly (readonly [string, string])[] {
  return path.map((to, index) => [index === 0 ? payer : (path[index - 1] ?? payer), to]);
}

/** Adds an amount to an edge; opposite amounts between two accounts cancel each other out. */
function pass(
  flows: Flows,
  { from, to, amount }: { readonly from: string; readonly to: string; readonly amount: bigint },
): void {
  const back = least(amount, read(flows, to, from));
  if (back > 0n) add(flows, to, from, -back);
  if (amount > back) add(flows, from, to, amount - back);
}

function add(flows: Flows, from: string, to: string, amount: bigint): void {
  const of = flows.get(from) ?? new Map<string, bigint>();
  flows.set(from, of.set(to, (of.get(to) ?? 0n) + amount));
}

const read = (flows: Flows, from: string, to: string) => flows.get(from)?.get(to) ?? 0n;

function least(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((one, other) => (other < one ? other : one), first);
}
