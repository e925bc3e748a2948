// The five cheapest offers that match: node search.js [least GPU memory in GB]
import { createClient, offerSearch } from "berth-sdk";

const client = createClient({ baseUrl: process.env.BERTH_URL ?? "http://127.0.0.1:8080" });
const gigabytes = Number(process.argv[2] ?? 16);

// A search needs no key. Memory of GPUs is in MB.
const { offers } = await offerSearch(client, {
  body: {
    gpu_ram: { gte: gigabytes * 1000 },
    rentable: { eq: true },
    order: [["dph_total", "asc"]],
    limit: 5,
  },
});
for (const offer of offers) {
  const note = offer.is_simulated ? " (simulated)" : "";
  console.log(`${offer.id}  ${offer.num_gpus}x ${offer.gpu_name}  $${offer.dph_total.toFixed(4)}/h${note}`);
}
