import assert from "node:assert/strict";
import { test } from "node:test";
import {
  OFFER_ALIASES,
  OFFER_COLUMNS,
} from "../../../../server/src/domains/supply/market/search/rules/offer-columns.ts";
import { searchVolumeOffers } from "../../../../server/src/domains/supply/volumes/offers/search.ts";
import { answer } from "../../../test/answering-server.ts";
import { nearestName, OFFER_FIELDS, VOLUME_FIELDS } from "./search-fields.ts";

test("the fields that the command line knows are those that the server searches by", () => {
  const names = [...Object.keys(OFFER_COLUMNS), ...Object.keys(OFFER_ALIASES)];
  assert.deepEqual(new Set(OFFER_FIELDS), new Set(names));
  const isForVolumes = (name: string) => {
    try {
      searchVolumeOffers([], { order: [[name, "asc"]] }, new Date(0));
      return true;
    } catch {
      return false;
    }
  };
  const candidates = new Set([...OFFER_FIELDS, ...VOLUME_FIELDS]);
  assert.deepEqual(new Set(VOLUME_FIELDS), new Set([...candidates].filter(isForVolumes)));
});

test("the nearest field is the one with the fewest slips, and nothing far away is suggested", () => {
  for (const [typed, meant] of [
    ["gpu_nmae", "gpu_name"],
    ["num_gpu", "num_gpus"],
    ["GPU_NAME", "gpu_name"],
    ["relaibilty", "reliability"],
    ["dph_totl", "dph_total"],
    ["flavour", undefined],
    ["x", undefined],
  ] as const) {
    assert.equal(nearestName(typed, OFFER_FIELDS), meant, typed);
  }
});

test("an unknown field of a search is warned of with the nearest one, and is searched by all the same", async (t) => {
  const found = { body: { offers: [] } };
  const { received, berth } = await answer(t, {
    "POST /api/v0/bundles/": found,
    "POST /api/v0/volumes/search/": found,
  });
  const searched = await berth("search", "--json", "gpu_nmae=RTX_4090 num_gpus>=2", "flavour=sweet");
  assert.deepEqual(searched, {
    code: 0,
    stdout: '{\n  "offers": []\n}\n',
    stderr:
      "warning: gpu_nmae is not a field to search by. Did you mean gpu_name?\n" +
      "warning: flavour is not a field to search by. See docs/search.md for all fields.\n",
  });
  const volumes = await berth("volume", "search", "--json", "disk_bv>1 num_gpus=1 disk_bw>2");
  assert.match(volumes.stderr, /^warning: disk_bv .* Did you mean disk_bw\?\nwarning: num_gpus is [^\n]*\n$/);
  const queries = received.map(([, body]) => (body as { readonly q: string }).q);
  assert.deepEqual(queries, [
    "rentable=true gpu_nmae=RTX_4090 num_gpus>=2 flavour=sweet",
    "disk_bv>1 num_gpus=1 disk_bw>2",
  ]);
});

test("a search by known fields warns of nothing, however it is written", async (t) => {
  const { berth } = await answer(t, { "POST /api/v0/bundles/": { body: { offers: [] } } });
  for (const q of ['gpu_name in ["RTX 4090", H100] dph lt 0.5', "cpu_ram_GB >= 4", '{"gpu_name":{"eq":"H100"}}']) {
    assert.equal((await berth("search", "--json", q)).stderr, "", q);
  }
});
