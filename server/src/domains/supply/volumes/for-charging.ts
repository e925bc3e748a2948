// Exports that only charging uses.
export { listVolumeIdsOfScope } from "./metering/rate-store.ts";
export { placeVolumes, type BillableVolume } from "./metering/service.ts";
export {
  listChargeableVolumes,
  listVolumePayers,
  lockDueVolumes,
  lockVolumesWithin,
  markVolumesSettled,
  postponeFirstDueVolume,
  type ChargeableVolume,
} from "./metering/store.ts";
export { HOLD_PERIODS, volumeHoldAmount } from "./metering/volume-hold.ts";
