// kill -9 in the middle of everything: what was acknowledged is there, what was not is there once or not at all, and the
// next start needs nobody's help.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { describe, test, type TestContext } from "node:test";
import { aDataDir, NO_LIMITS, discard, runBerth, startBerth, untilOffered, type Berth } from "../support/berth.ts";
import { freePort } from "../support/network/free-port.ts";
import { seededRandom } from "../support/random.ts";
import { TEST_SEED } from "../support/seed.ts";
import { until } from "../support/until.ts";

const ROUNDS = Number(process.env["BERTH_CRASH_ROUNDS"] ?? 4);
const HOSTS = 20;
const TRANSFER_CLIENTS = 6;
const RENT_CLIENTS = 6;
const PAYER_DOLLARS = 100_000;
const NANOS_PER_CENT = 10_000_000n;

type User = { readonly id: number; readonly email: string; readonly key: string; readonly keyId: number };
/** A transfer that a client asked for, under a key of its own, and goes on asking for until it has an answer. */
type Wish = { readonly key: string; readonly payer: User; readonly payee: User; readonly cents: number };
type Rent = { readonly key: string; readonly renter: User; readonly offer: number };

describe("after kill -9", () => {
  test(`no acknowledged request is lost and none is invented, over ${ROUNDS} crashes under load (seed ${TEST_SEED})`, async (t) => {
    console.log(`crash seed ${TEST_SEED} (BERTH_TEST_SEED, BERTH_CRASH_ROUNDS)`);
    const random = seededRandom(TEST_SEED);
    const market = await Market.open(t);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const isDatabaseFirst = random() < 0.5;
      const quota = market.acknowledged() + 40 + Math.floor(random() * 200);
      const load = market.load(random);
      await until(`${quota} acknowledged requests in round ${round}`, () => market.acknowledged() >= quota);
      const began = performance.now();
      await market.crash(isDatabaseFirst);
      await load.stop();
      await market.restart();
      console.log(
        `round ${round}: ${market.acknowledged()} acknowledged, ${market.open().length} open, ` +
          `ready ${Math.round(performance.now() - began)} ms after the kill`,
      );
      await market.auditAcknowledged();
      await market.settleOpen();
      await market.audit();
    }
  });

  test("a second berth up on the same data says so and leaves the first alone; stale pid files do not stop the next", async (t) => {
    const dataDir = await aDataDir();
    const first = await startBerth({ dataDir, args: ["--no-agent"] });
    let latest = first;
    t.after(() => discard(latest));
    const second = await runBerth(["up", "--no-agent", "--port", "0", "--data-dir", dataDir]);
    assert.equal(second.code, 1);
    assert.match(`${second.stdout}${second.stderr}`, new RegExp(`already.*process ${first.pid}.*\n$`));
    assert.equal((await first.call("GET", "/readyz")).status, 200);

    const postmaster = await first.postgresPid();
    const pidFile = path.join(dataDir, "postgres/cluster/postmaster.pid");
    const [stale] = [await readFile(pidFile, "utf8").catch(() => undefined)];
    await first.kill();
    await until("PostgreSQL to die with its server", () => isGone(postmaster));
    if (stale !== undefined) {
      // The number belongs to a stranger now: this very test.
      await writeFile(pidFile, stale.replace(/^\d+/, String(process.pid)));
    }
    const third = await startBerth({ dataDir, args: ["--no-agent"] });
    latest = third;
    assert.equal((await third.call("GET", "/api/v0/users/me/", { key: first.adminKey })).status, 200);
  });

  test("PostgreSQL that is killed comes back under a server that lives on, and requests meanwhile get 503", async (t) => {
    const berth = await startBerth({ args: ["--no-agent"] });
    t.after(() => discard(berth));
    const { key } = await anAccount(berth, "steady@example.com", 5);
    const postmaster = await berth.postgresPid();
    process.kill(postmaster, "SIGKILL");
    const met = new Set<number>();
    await until("the account to be shown by another PostgreSQL", async () => {
      const { status, body } = await berth.call("GET", "/api/v0/users/me/", { key });
      met.add(status);
      if (status !== 200) assert.equal(body.error, "database_unavailable");
      return status === 200 && (await berth.postgresPid()) !== postmaster;
    });
    for (const status of met) assert.ok(status === 200 || status === 503, `a request was answered ${status}`);
    // A background loop that failed meanwhile makes the server unready until it runs again.
    await until("the server to be ready again", async () => (await berth.call("GET", "/readyz")).status === 200);
  });

  test("SIGTERM finishes a request that is under way, waits for no silent connection, ends with code 0, and stops PostgreSQL", async (t) => {
    const berth = await startBerth({ args: ["--no-agent"] });
    t.after(() => discard(berth));
    const postmaster = await berth.postgresPid();
    const { email } = await anAccount(berth, "slow@example.com", 0);
    // A transfer of the row lock that the request needs makes it as slow as this test wants.
    const locker = await berth.connect();
    await locker.query("begin");
    await locker.query("select from users where email = $1 for update", [email]);
    await locker.query("lock table ledger_accounts in exclusive mode");
    const slow = berth.call("POST", "/api/v0/admin/credit/", { key: berth.adminKey, body: { email, amount: 3 } });
    await until("the request to wait for the lock", async () => {
      const [waiting] = await berth.sql("select count(*)::int as count from pg_locks where not granted");
      return waiting?.["count"] !== 0;
    });
    // Browsers connect before they ask, and a slow client stops in the middle of its headers.
    const silent = await Promise.all([aConnection(berth, ""), aConnection(berth, "GET /healthz HTTP/1.1\r\nHost: ")]);
    t.after(() => silent.forEach((socket) => socket.destroy()));
    const stopping = berth.stop();
    await until("the server to refuse newcomers", async () =>
      fetch(`${berth.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    await locker.query("commit");
    await locker.end();
    const answer = await slow;
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.credit, 3);
    assert.deepEqual(await stopping, { code: 0, signal: null });
    assert.ok(await isGone(postmaster));
  });

  test("Ctrl-C ends it with code 0, and the next start goes on with the same users, keys, money and instances", async (t) => {
    const first = await startBerth({ args: ["--simulate", "1"] });
    const { dataDir } = first;
    let latest = first;
    t.after(() => discard(latest));
    await untilOffered(first, 1);
    const user = await anAccount(first, "stays@example.com", 12.5);
    const { offers } = (await first.call("POST", "/api/v0/bundles/", { body: { limit: 1 } })).body;
    const made = await first.call("PUT", `/api/v0/asks/${offers[0].id}/`, { key: user.key, body: { image: "alpine" } });
    const id = Number(made.body.new_contract);
    const isRunning = async (berth: Berth) => {
      const shown = await berth.call("GET", `/api/v0/instances/${id}/`, { key: user.key });
      return shown.body.instances?.actual_status === "running";
    };
    await until("it runs", () => isRunning(first));
    process.kill(first.pid, "SIGINT");
    assert.deepEqual(await first.ended, { code: 0, signal: null });

    const second = await startBerth({ dataDir, args: ["--simulate", "1"] });
    latest = second;
    assert.equal(second.adminKey, first.adminKey);
    const me = (await second.call("GET", "/api/v0/users/me/", { key: user.key })).body;
    assert.equal(me.id, user.id);
    assert.ok(me.balance > 12 && me.balance <= 12.5, String(me.balance));
    await until("it runs again", () => isRunning(second));
    const again = await second.call("PUT", `/api/v0/asks/${offers[0].id}/`, {
      key: user.key,
      body: { image: "alpine" },
    });
    assert.equal(again.status, 410, "the offer is still taken");
  });
});

/** A connection on which the text was sent, and nothing behind it. */
async function aConnection({ url }: Berth, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {}); // The server cuts it off.
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

async function isGone(pid: number): Promise<boolean> {
  return readFile(`/proc/${pid}/stat`, "utf8").then(
    (stat) => stat.split(") ")[1]?.startsWith("Z") === true,
    () => true,
  );
}

async function anAccount(berth: Berth, email: string, dollars: number): Promise<User> {
  const body = { email, ...(dollars === 0 ? {} : { credit: dollars }) };
  const { body: made } = await berth.call("POST", "/api/v0/admin/users/", { key: berth.adminKey, body });
  return { id: made.id, email, key: made.api_key, keyId: made.key_id };
}

/** A market under load, and what its clients know about it: what they asked for, and what they were told. */
class Market {
  berth: Berth;
  readonly users: readonly User[];
  readonly wishes = new Map<string, Wish>();
  readonly rents = new Map<string, Rent>();
  /** Keys of the requests that were answered; all other requests are open. */
  readonly paid = new Set<string>();
  readonly rented = new Map<string, number>();
  readonly refused = new Set<string>();
  #count = 0;
  readonly #port: number;

  private constructor(berth: Berth, users: readonly User[]) {
    this.berth = berth;
    this.users = users;
    this.#port = Number(new URL(berth.url).port);
  }

  static async open(t: TestContext): Promise<Market> {
    const port = await freePort();
    const berth = await startBerth({ port, args: ["--simulate", String(HOSTS)], env: NO_LIMITS });
    await untilOffered(berth, HOSTS);
    const emails = Array.from({ length: 5 }, (_, index) => `user${index}@example.com`);
    const users: User[] = [];
    for (const email of emails) users.push(await anAccount(berth, email, PAYER_DOLLARS));
    const market = new Market(berth, users);
    t.after(() => discard(market.berth));
    return market;
  }

  acknowledged(): number {
    return this.paid.size + this.rented.size;
  }

  /** Keys of requests whose clients do not know the outcome. */
  open(): readonly string[] {
    const isOpen = (key: string) => !this.paid.has(key) && !this.rented.has(key) && !this.refused.has(key);
    return [...this.wishes.keys(), ...this.rents.keys()].filter(isOpen);
  }

  /** Clients that send one request after the other until the server is gone. */
  load(random: () => number): { stop(): Promise<void> } {
    let isStopped = false;
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const each = async (work: () => Promise<boolean>) => {
      while (!isStopped) if (!(await work().catch(() => false))) return;
    };
    const transfer = async () => {
      // One recipient is in demand, so that many transfers meet at one account.
      const [hot, ...others] = this.users;
      const payer = pick(others);
      const payee = random() < 0.7 ? hot! : pick(this.users.filter((user) => user !== payer));
      const wish = { key: `wish-${(this.#count += 1)}`, payer, payee, cents: 1 + Math.floor(random() * 500) };
      this.wishes.set(wish.key, wish);
      return this.#pay(wish);
    };
    const rent = async () => {
      const { body } = await this.berth.call("POST", "/api/v0/bundles/", { body: { limit: 100 } });
      const offers: readonly { readonly id: number }[] = body.offers;
      if (offers.length === 0) return this.#destroyOne(pick([...this.rented.values()]));
      const wanted = {
        key: `rent-${(this.#count += 1)}`,
        renter: pick(this.users),
        offer: pick(offers.slice(0, 3)).id,
      };
      this.rents.set(wanted.key, wanted);
      const isAnswered = await this.#rent(wanted);
      if (random() < 0.3 && this.rented.size > 0) await this.#destroyOne(pick([...this.rented.values()]));
      return isAnswered;
    };
    const clients = [
      ...Array.from({ length: TRANSFER_CLIENTS }, () => each(transfer)),
      ...Array.from({ length: RENT_CLIENTS }, () => each(rent)),
    ];
    return {
      async stop() {
        isStopped = true;
        await Promise.all(clients);
      },
    };
  }

  /** Sends the transfer once; false when the server could not be asked. */
  async #pay({ key, payer, payee, cents }: Wish): Promise<boolean> {
    const body = { recipient: payee.email, amount: cents / 100 };
    const headers = { "idempotency-key": key };
    const answer = await this.berth.call("PUT", "/api/v0/commands/transfer_credit/", { key: payer.key, body, headers });
    if (answer.status >= 500) return false;
    assert.equal(answer.status, 200, answer.text);
    this.paid.add(key);
    return true;
  }

  async #rent({ key, renter, offer }: Rent): Promise<boolean> {
    const headers = { "idempotency-key": key };
    const body = { image: "alpine", disk: 8 };
    const answer = await this.berth.call("PUT", `/api/v0/asks/${offer}/`, { key: renter.key, body, headers });
    if (answer.status >= 500) return false;
    if (answer.status === 200) {
      const earlier = this.rented.get(key);
      assert.ok(earlier === undefined || earlier === answer.body.new_contract, "a repeated rent is the same rent");
      this.rented.set(key, answer.body.new_contract);
    } else {
      assert.ok([404, 410].includes(answer.status), answer.text);
      this.refused.add(key);
    }
    return true;
  }

  async #destroyOne(id: number): Promise<boolean> {
    const [rent] = [...this.rented].find(([, made]) => made === id) ?? [];
    const renter = rent === undefined ? undefined : this.rents.get(rent)?.renter;
    if (renter === undefined) return true;
    const answer = await this.berth.call("DELETE", `/api/v0/instances/${id}/`, { key: renter.key });
    return answer.status < 500;
  }

  /** Kills server and PostgreSQL, in either order, with all that they were doing. */
  async crash(isDatabaseFirst: boolean): Promise<void> {
    const postgres = await this.berth.postgresPid();
    if (isDatabaseFirst) process.kill(postgres, "SIGKILL");
    const ended = this.berth.kill();
    try {
      process.kill(postgres, "SIGKILL");
    } catch {
      // It died with its server already.
    }
    await ended;
  }

  async restart(): Promise<void> {
    const { dataDir } = this.berth;
    this.berth = await startBerth({ dataDir, port: this.#port, args: ["--simulate", String(HOSTS)], env: NO_LIMITS });
  }

  /** Checks before any request is repeated: all acknowledged effects are there, and none that nobody asked for. */
  async auditAcknowledged(): Promise<void> {
    const posted = new Map(
      (
        await this.berth.sql(
          "select key, amount_nanos::text as amount from ledger_transfers where code = 'credit_transfer'",
        )
      ).map(({ key, amount }) => [String(key), BigInt(String(amount))]),
    );
    const asked = new Map([...this.wishes.values()].map((wish) => [ledgerKeyOf(wish), wish]));
    for (const key of this.paid) {
      const wish = this.wishes.get(key)!;
      assert.equal(posted.get(ledgerKeyOf(wish)), BigInt(wish.cents) * NANOS_PER_CENT, `${key} was acknowledged`);
    }
    for (const key of posted.keys()) assert.ok(asked.has(key), `nobody asked for transfer ${key}`);

    const made = new Set((await this.berth.sql("select id from instances")).map(({ id }) => Number(id)));
    for (const [key, id] of this.rented) assert.ok(made.has(id), `${key} was acknowledged as instance ${id}`);
    const open = this.open().filter((key) => this.rents.has(key)).length;
    assert.ok(
      made.size <= this.rented.size + open,
      `${made.size} instances of ${this.rented.size} and ${open} open orders`,
    );
  }

  /** The clients ask again, under the same keys, until each has an answer. */
  async settleOpen(): Promise<void> {
    for (const key of this.open()) {
      const [wish, rent] = [this.wishes.get(key), this.rents.get(key)];
      if (wish !== undefined) await until(`an answer for ${key}`, () => this.#pay(wish));
      if (rent !== undefined) await until(`an answer for ${key}`, () => this.#rent(rent));
    }
    assert.deepEqual(this.open(), []);
  }

  /** Checks that the books are exactly the answers, once every request has one. */
  async audit(): Promise<void> {
    const [books] = await this.berth.sql(
      `select (select sum(balance_nanos) from ledger_accounts)::text as sum,
         (select count(*) from ledger_accounts where balance_nanos - held_nanos < floor_nanos)::int as overdrawn,
         (select count(*) from ledger_accounts a where balance_nanos <>
            coalesce((select sum(amount_nanos) from ledger_transfers where credit_account_id = a.id), 0)
            - coalesce((select sum(amount_nanos) from ledger_transfers where debit_account_id = a.id), 0))::int as wrong_balances,
         (select count(*) from ledger_accounts a where held_nanos <>
            coalesce((select sum(amount_nanos) from ledger_holds where account_id = a.id and state = 'pending'), 0))::int as wrong_holds,
         (select count(*) from ledger_transfers where code = 'credit_transfer')::int as transfers,
         (select count(*) from instances)::int as instances`,
    );
    assert.deepEqual(books, {
      sum: "0",
      overdrawn: 0,
      wrong_balances: 0,
      wrong_holds: 0,
      transfers: this.paid.size,
      instances: this.rented.size,
    });
    const [leases] = await this.berth.sql(
      `select count(*)::int as double from leases a join leases b on a.device_id = b.device_id and a.id < b.id
       where tstzrange(a.granted_at, a.released_at) && tstzrange(b.granted_at, b.released_at)`,
    );
    assert.equal(leases?.["double"], 0, "a GPU was leased twice");
    const [strays] = await this.berth.sql(
      `select (select count(*) from leases l join instances i on i.id = l.instance_id
                where l.released_at is null and i.phase in ('scheduled', 'stopped', 'ended'))::int as leases,
         (select count(*) from instances i where i.phase in ('starting', 'running') and i.device_count <>
            (select count(*) from leases l where l.instance_id = i.id and l.released_at is null))::int as without_devices,
         (select count(*) from instances i left join instance_tabs t on t.instance_id = i.id
            left join ledger_holds h on h.id = t.hold_id
           where i.phase in ('starting', 'running') and h.state is distinct from 'pending')::int as without_hold,
         (select count(*) from ledger_holds h where h.state = 'pending' and not exists
            (select from instance_tabs t where t.hold_id = h.id))::int as orphaned_holds`,
    );
    assert.deepEqual(strays, { leases: 0, without_devices: 0, without_hold: 0, orphaned_holds: 0 });
  }
}

/** The ledger's key of a transfer that was requested with an Idempotency-Key. */
function ledgerKeyOf({ key, payer }: Wish): string {
  return `credit_transfer:${createHash("sha256").update(`${payer.keyId} ${key}`).digest("hex")}`;
}
