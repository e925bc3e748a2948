// Rents the cheapest offer, waits until it runs, and destroys it: BERTH_API_KEY=… node rent.js
import { ApiError, createClient, instanceCreate, instanceDestroy, instanceShow, offerSearch } from "berth-sdk";
import { setTimeout as sleep } from "node:timers/promises";

const client = createClient({
  baseUrl: process.env.BERTH_URL ?? "http://127.0.0.1:8080",
  apiKey: process.env.BERTH_API_KEY,
});

const { offers } = await offerSearch(client, {
  body: { rentable: { eq: true }, order: [["dph_total", "asc"]], limit: 1 },
});
const [offer] = offers;
if (offer === undefined) throw new Error("there is nothing to rent");

const { new_contract: id } = await rent(offer);
console.log(`Instance ${id} on a machine with ${offer.num_gpus}x ${offer.gpu_name}.`);
try {
  await untilRunning(id);
  console.log(`Instance ${id} runs.`);
} finally {
  // It costs money until it is destroyed.
  await instanceDestroy(client, { id });
  console.log(`Instance ${id} is destroyed.`);
}

async function rent({ id, dph_total }) {
  try {
    return await instanceCreate(client, { id, body: { image: "ubuntu:24.04", disk: 10 } });
  } catch (error) {
    // `code` is for programs and `msg` for people.
    if (error instanceof ApiError && error.code === "insufficient_credit") {
      console.error(`$${dph_total.toFixed(4)} an hour is more than the account has: ${error.msg}`);
    }
    throw error;
  }
}

async function untilRunning(id) {
  for (;;) {
    const { instances: instance } = await instanceShow(client, { id });
    if (instance === null) throw new Error(`instance ${id} is gone`);
    if (instance.actual_status === "running") return;
    console.log(`It is ${instance.actual_status ?? "being made"}: ${instance.status_msg ?? ""}`);
    await sleep(1000);
  }
}
