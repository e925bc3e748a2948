import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseOptions } from "./options.ts";

const token = { BERTH_AGENT_TOKEN: "secret" };

describe("the agent's options", () => {
  it("have defaults for everything, a token included: the machine may have joined", () => {
    const parsed = parseOptions([], {});
    assert.ok(parsed.ok);
    assert.equal(parsed.options.urls.socketUrl, "ws://127.0.0.1:8080/agent");
    assert.deepEqual([parsed.options.token, parsed.options.joinToken], [undefined, undefined]);
    assert.deepEqual(parsed.options.portRange, { first: 20_000, last: 29_999 });
    assert.deepEqual([parsed.options.simulate, parsed.options.mayInstall], [0, true]);
  });

  it("the command line wins over the environment, and ports are bound where renters look for them", () => {
    const env = { ...token, BERTH_AGENT_SIMULATE: "5", BERTH_AGENT_PUBLIC_IP: "203.0.113.9" };
    const parsed = parseOptions(["--simulate", "3"], env);
    assert.ok(parsed.ok);
    assert.deepEqual([parsed.options.simulate, parsed.options.bindAddress], [3, ""]);
  });

  it("leaves addresses and rates open that nobody gave", () => {
    const parsed = parseOptions(["--inet-down", "940"], {});
    assert.ok(parsed.ok);
    const { publicIpaddr, bindAddress, inetUpMbps, inetDownMbps } = parsed.options;
    assert.deepEqual([publicIpaddr, bindAddress, inetUpMbps, inetDownMbps], ["", "", undefined, 940]);
  });

  it("take several addresses of one installation, of which the first is the one to join", () => {
    const parsed = parseOptions(["--server", "https://one.example, https://two.example/"], token);
    assert.ok(parsed.ok);
    const { urls, furtherUrls } = parsed.options;
    assert.deepEqual(
      [urls, ...furtherUrls].map(({ apiUrl }) => apiUrl),
      ["https://one.example", "https://two.example"],
    );
  });

  it("opens no registry and no image of the machine's own unless they are listed", () => {
    const closed = parseOptions([], {});
    assert.ok(closed.ok);
    assert.deepEqual([closed.options.allowedRegistries, closed.options.localImages], [[], []]);
    const open = parseOptions(["--local-images", "tour, berth-test/*"], {
      BERTH_AGENT_ALLOW_REGISTRIES: "127.0.0.1:5000,Registry.lan,[::1]:5000",
    });
    assert.ok(open.ok);
    assert.deepEqual(open.options.allowedRegistries, ["127.0.0.1:5000", "registry.lan", "[::1]:5000"]);
    assert.deepEqual(open.options.localImages, ["tour", "berth-test/*"]);
    const wrong = parseOptions(["--allow-registries", "not a registry"], {});
    assert.ok(!wrong.ok && /--allow-registries/.test(wrong.problem));
  });

  it("the kernel names the boot of this machine, unless the environment does", () => {
    for (const [text, expected] of [
      ["", undefined],
      ["invocation-7", "invocation-7"],
    ] as const) {
      const parsed = parseOptions([], { BERTH_AGENT_BOOT_ID: text });
      assert.ok(parsed.ok);
      assert.equal(parsed.options.bootId, expected);
    }
    const parsed = parseOptions([], { BERTH_AGENT_BOOT_ID: "two words" });
    assert.ok(!parsed.ok);
    assert.match(parsed.problem, /BERTH_AGENT_BOOT_ID/);
  });

  for (const argv of [
    ["--server", "ftp://example.org"],
    ["--server", "http://user:password@example.org"],
    ["--server", "https://example.org/?token=a"],
    ["--server", "example.org"],
    ["--server", "https://one.example,two.example"],
    ["--server", "https://one.example,"],
    ["--simulate", "many"],
    ["--simulate-gpus", "65"],
    ["--declare-gpus", "Voodoo 2"],
    ["--port-range", "9-1"],
    ["--inet-up", "fast"],
    ["--inet-down", "-5"],
    ["--host-key", "two words"],
    ["--unheard-of"],
    ["--token", "two words"],
  ]) {
    it(`refuses ${argv.join(" ")}`, () => assert.ok(!parseOptions(argv, token).ok));
  }

  it("a token that cannot stand in a header is refused without repeating it", () => {
    const parsed = parseOptions([], { BERTH_AGENT_TOKEN: "line\nbreak" });
    assert.ok(!parsed.ok && !parsed.problem.includes("line"));
  });
});
