import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { CONTENT_BIT, SPELLING_BIT, turnLastBit } from "../../../../../../test/support/money/last-bits.ts";
import { asId, type MachineId } from "../../../../base/ids.ts";
import { hashProof, isProofGood, proofMaker, type KnownProofs } from "./rules/session-proof.ts";

const machine = asId<MachineId>(7);
const proofs = proofMaker(Buffer.alloc(32, 1), randomBytes);

test("only the server that made a proof reads its session, and only for the machine it was made for", () => {
  const proof = proofs.make(machine, 41);
  assert.equal(proofs.sessionOf(machine, proof), 41);
  assert.equal(proofs.sessionOf(asId<MachineId>(8), proof), undefined);
  assert.equal(proofMaker(Buffer.alloc(32, 2), randomBytes).sessionOf(machine, proof), undefined);
  assert.equal(proofs.sessionOf(machine, proof.replace(/^41/, "42")), undefined);
  assert.equal(proofs.sessionOf(machine, turnLastBit(proof, CONTENT_BIT)), undefined);
  assert.equal(proofs.sessionOf(machine, turnLastBit(proof, SPELLING_BIT)), undefined, "a proof has one spelling");
  assert.notEqual(proofs.make(machine, 41), proof, "no two are alike");
  assert.ok(proofs.make(machine, 999_999_999_999_999).length <= 128, "the protocol has room for it");
});

test("any other text in place of a proof is refused without an error", () => {
  fc.assert(fc.property(fc.string(), (text) => proofs.sessionOf(machine, text) === undefined));
});

/** The proofs that the server stores after it let in a machine with this proof. */
function letIn(known: KnownProofs, shown: string): { known: KnownProofs; given: string } {
  const issuedFor = proofs.sessionOf(machine, shown) ?? 0;
  const sessionNumber = Math.max(known.sessionNumber, issuedFor) + 1;
  const given = proofs.make(machine, sessionNumber);
  return { given, known: { proofSha256: hashProof(given), previousProofSha256: hashProof(shown), sessionNumber } };
}

test("an agent or its copy, once it confirmed a later session, locks out the other, even if messages are lost", () => {
  const step = fc.record({
    who: fc.constantFrom("original" as const, "copy" as const),
    isWelcomeLost: fc.boolean(),
    isReportLost: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let known: KnownProofs = { proofSha256: null, previousProofSha256: null, sessionNumber: 0 };
      const held = { original: "", copy: "" };
      let owner: "original" | "copy" | undefined;
      for (const { who, isWelcomeLost, isReportLost } of steps) {
        const isLetIn = isProofGood(known, held[who], proofs.sessionOf(machine, held[who]));
        if (owner !== undefined) assert.equal(isLetIn, who === owner, "exactly the one that reported last is let in");
        if (!isLetIn) continue;
        const next = letIn(known, held[who]);
        known = next.known;
        if (isWelcomeLost) continue;
        held[who] = next.given;
        if (isReportLost) continue;
        known = { ...known, previousProofSha256: null };
        owner = who;
      }
    }),
  );
});

test("an agent that is ahead of a database restored from an older copy is let in, and one that is behind is not", () => {
  const [older, newer] = [proofs.make(machine, 3), proofs.make(machine, 9)];
  const restored: KnownProofs = {
    proofSha256: hashProof(proofs.make(machine, 5)),
    previousProofSha256: null,
    sessionNumber: 5,
  };
  assert.ok(isProofGood(restored, newer, proofs.sessionOf(machine, newer)));
  assert.ok(!isProofGood(restored, older, proofs.sessionOf(machine, older)));
});
