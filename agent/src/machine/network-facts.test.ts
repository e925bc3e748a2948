import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bindAddressFor,
  defaultInterface,
  outerAddress,
  ownAddress,
  parseLinkSpeed,
  type Interfaces,
} from "./network-facts.ts";

const ROUTES = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
wlan0	00000000	0101A8C0	0003	0	0	600	00000000	0	0	0
eth0	00000000	010200C0	0003	0	0	100	00000000	0	0	0
docker0	000011AC	00000000	0001	0	0	0	0000FFFF	0	0	0
`;

function address(address: string, family: "IPv4" | "IPv6" = "IPv4") {
  const common = { address, netmask: "", mac: "", internal: false, cidr: null };
  return family === "IPv4" ? { ...common, family } : { ...common, family, scopeid: 0 };
}

describe("the address of a machine", () => {
  const interfaces: Interfaces = {
    docker0: [address("172.17.0.1")],
    eth0: [address("fe80::1", "IPv6"), address("192.0.2.7")],
    wlan0: [address("192.0.2.200")],
  };

  it("is that of the interface that leads out, the best of several", () => {
    assert.equal(defaultInterface(ROUTES), "eth0");
    assert.equal(outerAddress(ROUTES, interfaces), "192.0.2.7");
  });

  it("is not known without such an interface", () => {
    assert.equal(outerAddress("", interfaces), undefined);
    assert.equal(outerAddress(ROUTES, { eth0: [address("fe80::1", "IPv6")] }), undefined);
  });

  it("is where ports are published, unless it is a router's in front", () => {
    assert.equal(bindAddressFor("192.0.2.7", interfaces), "192.0.2.7");
    assert.equal(bindAddressFor("127.0.0.1", interfaces), "127.0.0.1");
    assert.equal(bindAddressFor("198.51.100.9", interfaces), "0.0.0.0");
  });

  it("is the loopback for a server on this very machine", async () => {
    for (const host of ["127.0.0.1:8080", "localhost", "[::1]:8080"]) {
      assert.equal(await ownAddress(`http://${host}`), "127.0.0.1");
    }
    assert.match(await ownAddress("https://market.example"), /^\d+\.\d+\.\d+\.\d+$/);
  });

  it("its link's speed counts where the interface tells one", () => {
    assert.deepEqual(["10000\n", "-1\n", "", "fast"].map(parseLinkSpeed), [10_000, 100, 100, 100]);
  });
});
