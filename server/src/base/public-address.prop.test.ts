import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isPublicAddress, networkOf } from "./public-address.ts";

type Block = readonly [network: bigint, prefix: number];

const v4 = (text: string) => text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
const text4 = (address: bigint) => [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join(".");
const groups = (address: bigint) =>
  Array.from({ length: 8 }, (_, index) => (address >> BigInt(112 - 16 * index)) & 0xffffn);
const text6 = (address: bigint) =>
  groups(address)
    .map((group) => group.toString(16))
    .join(":");

/** Special-purpose blocks as numbers, written out by hand from the registries. */
const SPECIAL_4: readonly Block[] = [
  [v4("0.0.0.0"), 8],
  [v4("10.0.0.0"), 8],
  [v4("100.64.0.0"), 10],
  [v4("127.0.0.0"), 8],
  [v4("169.254.0.0"), 16],
  [v4("172.16.0.0"), 12],
  [v4("192.0.0.0"), 24],
  [v4("192.0.2.0"), 24],
  [v4("192.88.99.0"), 24],
  [v4("192.168.0.0"), 16],
  [v4("198.18.0.0"), 15],
  [v4("198.51.100.0"), 24],
  [v4("203.0.113.0"), 24],
  [v4("224.0.0.0"), 4],
  [v4("240.0.0.0"), 4],
];
const SPECIAL_6: readonly Block[] = [
  [0x2001n << 112n, 23],
  [0x20010db8n << 96n, 32],
  [0x2002n << 112n, 16],
  [0x3fffn << 112n, 20],
];
const GLOBAL_6: Block = [0x2000n << 112n, 3];

function isWithin(address: bigint, [network, prefix]: Block, bits: number): boolean {
  const shift = BigInt(bits - prefix);
  return address >> shift === network >> shift;
}

/** The first and last addresses of every block, and their neighbours: where a wrong prefix shows. */
function edges(blocks: readonly Block[], bits: number): readonly bigint[] {
  const max = (1n << BigInt(bits)) - 1n;
  return blocks.flatMap(([network, prefix]) => {
    const last = network + (1n << BigInt(bits - prefix)) - 1n;
    return [network - 1n, network, last, last + 1n].filter((address) => address >= 0n && address <= max);
  });
}

const anAddress = (blocks: readonly Block[], bits: number) =>
  fc.oneof(fc.constantFrom(...edges(blocks, bits)), fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }));

test("an IPv4 address is public unless it lies in a special block", () => {
  fc.assert(
    fc.property(anAddress(SPECIAL_4, 32), (address) => {
      const isSpecial = SPECIAL_4.some((block) => isWithin(address, block, 32));
      assert.equal(isPublicAddress(text4(address)), !isSpecial, text4(address));
    }),
    { numRuns: 2_000 },
  );
});

test("an IPv6 address is public when it is global unicast outside of every special block", () => {
  const nearGlobal = fc.bigInt({ min: 0n, max: (1n << 125n) - 1n }).map((rest) => GLOBAL_6[0] + rest);
  fc.assert(
    fc.property(fc.oneof(anAddress([...SPECIAL_6, GLOBAL_6], 128), nearGlobal), (address) => {
      const isSpecial = SPECIAL_6.some((block) => isWithin(address, block, 128));
      const expected = isWithin(address, GLOBAL_6, 128) && !isSpecial;
      assert.equal(isPublicAddress(text6(address)), expected, text6(address));
    }),
    { numRuns: 2_000 },
  );
});

test("an IPv4 address written as an IPv6 address is never public", () => {
  const prefixes = [0n, 0xffffn << 32n, 0xffff0000n << 32n, 0x64ff9bn << 96n, 0x2002n << 112n];
  fc.assert(
    fc.property(fc.constantFrom(...prefixes), fc.bigInt({ min: 0n, max: 0xffffffffn }), (prefix, address) => {
      const wrapped = prefix === 0x2002n << 112n ? prefix + (address << 80n) : prefix + address;
      assert.equal(isPublicAddress(text6(wrapped)), false, text6(wrapped));
    }),
  );
  assert.equal(isPublicAddress("::ffff:8.8.8.8"), false);
});

test("a text that is no address, or names an interface, is not public", () => {
  for (const text of [
    "",
    "example.com",
    "8.8.8",
    "8.8.8.8.8",
    "2606:4700::1111%eth0",
    "[2606:4700::1111]",
    " 8.8.8.8",
  ]) {
    assert.equal(isPublicAddress(text), false, text);
  }
  assert.ok(isPublicAddress("8.8.8.8") && isPublicAddress("2606:4700::1111"));
});

test("all addresses of an IPv6 network are one caller, in any spelling", () => {
  const bits = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
  fc.assert(
    fc.property(bits, bits, bits, (network, one, other) => {
      const [first, second] = [one, other].map((host) => text6((network << 64n) | host));
      assert.equal(networkOf(first!), networkOf(second!));
      assert.equal(networkOf(new URL(`http://[${first}]/`).hostname.slice(1, -1)), networkOf(first!));
      const neighbour = text6(((network ^ 1n) << 64n) | one);
      assert.notEqual(networkOf(neighbour), networkOf(first!));
    }),
  );
  assert.equal(networkOf("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:db8::1"), "2001:db8:0:0::/64");
  assert.equal(networkOf("64:ff9b::192.0.2.1"), "64:ff9b:0:0::/64");
  assert.equal(networkOf("fe80::1%eth0"), "fe80:0:0:0::/64");
  assert.deepEqual(["192.0.2.1", "::ffff:192.0.2.1", ""].map(networkOf), ["192.0.2.1", "192.0.2.1", ""]);
});
