import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HASH_ID, computeHashId, computePasswordMac } from "./rules/content-hash.ts";
import { readChangedContent, readNewContent } from "./rules/content.ts";

const KEY = Buffer.alloc(32, 7);
const text = fc.stringMatching(/^[a-z ]{0,12}$/);

const optional = {
  tag: fc.constantFrom("latest", "v1"),
  desc: text,
  readme: text,
  env: fc.constantFrom("", "-e A=1", "-e A=1 -p 80:80"),
  onstart: text,
  runtype: fc.constantFrom("ssh", "jupyter", "args"),
  args_str: text,
  ssh_direct: fc.boolean(),
  jup_direct: fc.boolean(),
  use_jupyter_lab: fc.boolean(),
  jupyter_dir: fc.constantFrom("", "/work"),
  docker_login_repo: text,
  docker_login_user: text,
  href: text,
  repo: text,
  extra_filters: fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,3}$/), fc.constant({ gte: 1 }), { maxKeys: 4 }),
  recommended_disk_space: fc.integer({ min: 8, max: 64 }),
  private: fc.boolean(),
  volume_info: fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,3}$/), fc.integer(), { maxKeys: 3 }),
};
const bodies = fc.record(
  { ...optional, name: fc.constantFrom("a", "b"), image: fc.constantFrom("x", "y:1") },
  {
    requiredKeys: ["name", "image"],
  },
);

const shuffledDeep = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, member]) => [key, shuffledDeep(member)]),
      )
    : value;

test("the order of keys, at any depth, does not change the hash", () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const shuffled = shuffledDeep(body);
      assert.ok(typeof shuffled === "object" && shuffled !== null);
      const hash = computeHashId(readNewContent(body), "");
      assert.match(hash, HASH_ID);
      assert.equal(computeHashId(readNewContent({ ...shuffled }), ""), hash);
    }),
  );
});

test("a default that is given and one that is left out are the same content", () => {
  const defaults = {
    tag: "latest",
    desc: "",
    readme: "",
    readme_visible: true,
    env: "",
    onstart: "",
    runtype: "args",
    args_str: "",
    ssh_direct: false,
    use_ssh: false,
    jup_direct: false,
    jupyter_dir: null,
    use_jupyter_lab: false,
    docker_login_repo: "",
    docker_login_user: "",
    href: "",
    repo: "",
    extra_filters: {},
    recommended_disk_space: 8,
    private: true,
    volume_info: null,
  };
  const hash = computeHashId(readNewContent({ name: "a", image: "x" }), "");
  fc.assert(
    fc.property(fc.subarray(Object.entries(defaults)), (given) => {
      const body = { name: "a", image: "x", ...Object.fromEntries(given) };
      assert.equal(computeHashId(readNewContent(body), ""), hash);
    }),
  );
});

test("different content has a different hash", () => {
  fc.assert(
    fc.property(bodies, bodies, (left, right) => {
      const [a, b] = [readNewContent(left), readNewContent(right)];
      const isSame = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
      assert.equal(computeHashId(a, "") === computeHashId(b, ""), isSame);
    }),
  );
});

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)]);
}

test("an edit that changes nothing keeps the hash", () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const content = readNewContent(body);
      for (const edit of [{}, content]) {
        assert.equal(computeHashId(readChangedContent(edit, content), ""), computeHashId(content, ""));
      }
    }),
  );
});

test("another password gives another hash, which cannot be guessed without the installation's key", () => {
  const content = readNewContent({ name: "a", image: "x" });
  const hashes = [
    computeHashId(content, computePasswordMac("", KEY)),
    computeHashId(content, computePasswordMac("one", KEY)),
    computeHashId(content, computePasswordMac("two", KEY)),
    computeHashId(content, computePasswordMac("one", Buffer.alloc(32, 8))),
  ];
  assert.equal(new Set(hashes).size, 4);
});

test("the hash of a known content never changes: stored hashes depend on it", () => {
  const content = readNewContent({
    name: "Example",
    image: "ubuntu:22.04",
    env: "-e A=1",
    extra_filters: { b: { eq: 1 } },
  });
  assert.equal(computeHashId(content, ""), "27a434b3c1e62f017783d2e8d55ce114");
});
