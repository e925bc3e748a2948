import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import manifest from "../../../../package.json" with { type: "json" };
import golden from "../../../../protocol/golden/v2.json" with { type: "json" };
import { decodeAgentMessage, releaseText, type Hello } from "../../../../protocol/index.ts";
import { asId, type AgentCredentialId } from "../../base/ids.ts";
import { AgentReleases, releaseKeyOf } from "./release.ts";

const secret = Buffer.alloc(32, 7);
const older: Hello = { ...aHello(), agent_version: "0.0.1", updates_itself: true };
const id = (number: number) => asId<AgentCredentialId>(number);

function aHello(): Hello {
  const decoded = decodeAgentMessage(JSON.stringify(golden.agent.find(({ kind }) => kind === "hello")));
  if (!decoded.ok || decoded.message.kind !== "hello") throw new Error("the golden messages have a hello");
  return decoded.message;
}

test("an older agent that may update itself is offered this version, signed, as an archive that is there", async () => {
  const releases = new AgentReleases({ secret, percent: 100 });
  const { release, release_key: key } = await releases.offerFor(id(1), older);
  assert.ok(release && key);
  assert.equal(release.version, manifest.version);
  const publicKey = createPublicKey(releaseKeyOf(secret));
  assert.equal(
    verify(undefined, Buffer.from(releaseText(release)), publicKey, Buffer.from(release.signature, "base64url")),
    true,
  );
  const archive = await releases.find(release.sha256);
  assert.equal(archive?.length, release.bytes);
  assert.equal(createHash("sha256").update(archive).digest("hex"), release.sha256);
  assert.equal(await releases.find("0".repeat(64)), undefined);
  const again = await new AgentReleases({ secret, percent: 100 }).offerFor(id(2), older);
  assert.deepEqual(again, { release, release_key: key }, "all servers of one version and secret offer the same");
});

test("no other agent is offered anything", async () => {
  const releases = new AgentReleases({ secret, percent: 100 });
  const { updates_itself: _, ...unasked } = older;
  assert.deepEqual(await releases.offerFor(id(1), unasked), {});
  const failed = { version: manifest.version, outcome: "rolled_back" as const, problem: "it ended" };
  for (const hello of [
    { ...older, agent_version: manifest.version },
    { ...older, agent_version: "99.0.0" },
    { ...older, agent_version: "test" },
    { ...older, update_result: failed },
  ]) {
    assert.deepEqual(Object.keys(await releases.offerFor(id(1), hello)), ["release_key"]);
  }
});

test("a share of machines is offered it, each larger share has the smaller ones within, and none is paused", async () => {
  const offeredAt = async (percent: number) => {
    const releases = new AgentReleases({ secret, percent });
    const offers = await Promise.all(
      Array.from({ length: 400 }, (_, index) => releases.offerFor(id(index + 1), older)),
    );
    return offers.flatMap(({ release }, index) => (release === undefined ? [] : [index]));
  };
  assert.deepEqual(await offeredAt(0), []);
  const [few, more] = [await offeredAt(10), await offeredAt(50)];
  assert.ok(few.length > 15 && few.length < 75, `${few.length} of 400`);
  assert.ok(more.length > 150 && more.length < 250, `${more.length} of 400`);
  assert.deepEqual(
    few.filter((index) => !more.includes(index)),
    [],
  );
  assert.equal((await offeredAt(100)).length, 400);
});
