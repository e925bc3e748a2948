import assert from "node:assert/strict";
import { test } from "node:test";
import { sshAddressOf, sshUrl, type Reachable } from "./ssh-address.ts";

const RECORD: Reachable = {
  image_runtype: "ssh ssh_proxy",
  public_ipaddr: " 192.0.2.1 ",
  ports: {},
  ssh_host: "proxy.example",
  ssh_port: 40_002,
};
const MAPPED = { "22/tcp": [{ HostPort: "20022" }] };

test("a port of its own wins over the proxy, where Jupyter comes before SSH", () => {
  const cases: readonly (readonly [Partial<Reachable>, string | undefined])[] = [
    [{}, "ssh://root@proxy.example:40002"],
    [{ image_runtype: "jupyter jupyter_proxy ssh_proxy" }, "ssh://root@proxy.example:40003"],
    [{ ports: MAPPED }, "ssh://root@192.0.2.1:20022"],
    [{ ports: MAPPED, image_runtype: "jupyter jupyter_direc" }, "ssh://root@192.0.2.1:20022"],
    [{ ports: { "8080/tcp": [{ HostPort: "20080" }] } }, "ssh://root@proxy.example:40002"],
    [{ ports: MAPPED, public_ipaddr: "2001:db8::1" }, "ssh://root@[2001:db8::1]:20022"],
    [{ ports: { "22/tcp": [] } }, "ssh://root@proxy.example:40002"],
    [{ ssh_port: 0 }, undefined],
    [{ ssh_host: "-oProxyCommand=id" }, undefined],
    [{ ports: MAPPED, public_ipaddr: "a;id" }, "ssh://root@proxy.example:40002"],
  ];
  for (const [changes, expected] of cases) {
    const address = sshAddressOf({ ...RECORD, ...changes });
    assert.equal(address && sshUrl("ssh", address), expected);
  }
});
