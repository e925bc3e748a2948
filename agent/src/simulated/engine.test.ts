import { systemClock } from "../base/clock.ts";
import { testEngineContract } from "../engine/engine.contract.ts";
import { createSimulatedEngine } from "./engine.ts";

testEngineContract("the simulated engine", "simulated", () => {
  const engine = createSimulatedEngine({ clock: systemClock, random: () => 0.5 });
  // Images of these tags behave so; they must have been pulled like any other.
  const onProgress = () => undefined;
  const signal = new AbortController().signal;
  const pulls = ["example/app:exit-3", "example/app:broken"].map((image) =>
    engine.pull({ image, auth: null, signal, onProgress }),
  );
  return Promise.all(pulls).then(() => ({
    engine,
    image: "example/app:latest",
    missingImage: "example/does-not-exist:latest",
    exiting: { image: "example/app:exit-3" },
    broken: { image: "example/app:broken" },
    programs: { speaking: ["exit-3"], endless: ["endless"], waiting: ["forever"] },
    printing: {},
    printed: "simulated",
    refusingRepository: "example/does-not-exist",
    dispose: () => Promise.resolve(engine.close()),
  }));
});
