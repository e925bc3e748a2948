import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { soon, testApp, type TestApp } from "../../../../test/support/app.ts";
import { inTransaction, type TestCaller } from "../../../../test/support/fixtures.ts";
import { LiveFollower } from "../../../../test/support/live-follower.ts";
import { destroy, rent, rentAndRun } from "../../../../test/support/rentals.ts";
import { postNotifications } from "../notifications/index.ts";

const LOOK_MS = 250;
const OFFERS_MS = 1_000;
const SECONDS_MS = 3_000;

describe("events", () => {
  let app: TestApp;
  const cleanups: (() => Promise<void> | void)[] = [];
  const followers: LiveFollower[] = [];

  before(async () => {
    app = await testApp({ after: (fn) => void cleanups.push(fn as () => Promise<void>) });
  });
  after(async () => {
    await Promise.all(followers.map((follower) => follower.close()));
    for (const cleanup of cleanups) await cleanup();
  });

  const follow = async (secret: string, options: { readonly kinds?: string; readonly after?: string } = {}) => {
    const follower = await LiveFollower.connect(`http://${app.origin}`, { secret, ...options });
    followers.push(follower);
    await soon("a stream to begin", () => follower.of("ready").length > 0);
    return follower;
  };
  /** Lets time pass in steps until the probe is true. */
  const passing = (what: string, probe: () => boolean, stepMs = LOOK_MS) =>
    soon(what, () => {
      if (probe()) return true;
      app.clock.advance(stepMs);
      return false;
    });
  const label = (user: TestCaller, id: number, text: string) =>
    app.call({ method: "PUT", url: `/api/v0/instances/${id}/`, secret: user.secret, body: { label: text } });

  test("tell an account what changes of its own, in the order in which it changed, and nobody else", async () => {
    const [renter, stranger] = [await app.caller(), await app.caller()];
    const host = await app.host();
    const [mine, theirs] = [await follow(renter.secret), await follow(stranger.secret)];
    const id = await rentAndRun(app, renter, host);
    await label(renter, id, "first");
    await label(renter, id, "second");
    assert.equal((await destroy(app, renter, id)).status, 200);
    await passing("the last change", () => mine.of("instance").some(({ data }) => data["desired"] === "destroyed"));
    const told = mine.of("instance");
    assert.deepEqual(new Set(told.map(({ data }) => data["id"])), new Set([id]));
    assert.equal(told[0]?.data["change"], "created");
    const labels = told.map(({ data }) => data["label"]);
    assert.ok(labels.indexOf("first") < labels.indexOf("second"), "in order");
    assert.ok(told.some(({ data }) => data["phase"] === "running"));
    const ids = mine.heard.map((event) => Number(event.id)).filter((number) => !Number.isNaN(number));
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
      "each once, in order",
    );
    await follow(stranger.secret);
    assert.deepEqual(theirs.of("instance"), []);
    assert.deepEqual(theirs.of("machine"), []);
  });

  test("tell a host of its machine, and everybody of its offers", async () => {
    const owner = await app.caller();
    const anybody = await follow((await app.caller()).secret);
    const mine = await follow(owner.secret, { kinds: "machine" });
    const host = await app.host({ owner });
    await passing("the machine", () => mine.of("machine").some(({ data }) => data["is_connected"] === true));
    assert.deepEqual(new Set(mine.of("machine").map(({ data }) => data["id"])), new Set([host.machineId]));
    const isAbout = ({ data }: { readonly data: Record<string, unknown> }) => data["id"] === host.machineId;
    await passing("its offers", () => anybody.of("offer").some(isAbout), OFFERS_MS);
    const offerIds = new Set((await app.offersOf(host)).values());
    const told = () => new Set([anybody.of("offer").findLast(isAbout)?.data["offer_ids"]].flat());
    await passing("its present offers", () => isDeepStrictEqual(told(), offerIds), OFFERS_MS);
    assert.deepEqual(anybody.of("machine"), []);
    assert.deepEqual(mine.of("offer"), [], "nothing that was not asked for");
  });

  test("tell of notifications, and of the balance only when it is another", async () => {
    const user = await app.caller({ dollars: 7 });
    const mine = await follow(user.secret);
    await passing("the first balance", () => mine.of("balance").length > 0, SECONDS_MS);
    assert.deepEqual(mine.of("balance")[0]?.data, { id: user.id, change: "changed", booked: 7, held: 0 });
    assert.equal(mine.of("balance")[0]?.id, undefined, "it is told again rather than resumed");
    const subject = "Your credit is low";
    const notification = {
      userId: user.id,
      kind: "client:low_credit",
      subject,
      message: "Add some.",
      key: "low credit 1",
    } as const;
    await inTransaction(app.env.database, (tx) => postNotifications(tx, [notification]));
    await passing("the notification", () => mine.of("notification").length > 0);
    const [{ data } = assert.fail()] = mine.of("notification");
    assert.deepEqual([data["type"], data["subject"], data["is_read"]], [notification.kind, subject, false]);
    await app.call({ method: "PUT", url: "/api/v0/notices/", secret: user.secret, body: { up_to_id: 1_000_000 } });
    await passing("that it is read", () => mine.of("notification").at(-1)?.data["is_read"] === true);
    assert.equal(mine.of("balance").length, 1, "nothing was booked");
    await rent(app, user, await app.host());
    await passing("what is held", () => Number(mine.of("balance").at(-1)?.data["held"]) > 0, SECONDS_MS);
  });
});
