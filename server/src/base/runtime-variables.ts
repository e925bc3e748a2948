const RUNTIME_VARIABLES: ReadonlySet<string> = new Set([
  "NVIDIA_VISIBLE_DEVICES",
  "NVIDIA_DRIVER_CAPABILITIES",
  "NVIDIA_MIG_CONFIG_DEVICES",
  "NVIDIA_MIG_MONITOR_DEVICES",
  "NVIDIA_IMEX_CHANNELS",
  "NVIDIA_DISABLE_REQUIRE",
  "NVIDIA_GDS",
  "NVIDIA_GDRCOPY",
  "NVIDIA_MOFED",
  "NVIDIA_NVSWITCH",
  "AMD_VISIBLE_DEVICES",
]);

/**
 * Whether container runtimes read this variable to decide which devices and driver parts to hand in. Which GPUs an
 * instance has is decided by its lease alone, so the renter's word for them counts nowhere.
 */
export function isRuntimeVariable(name: string): boolean {
  return RUNTIME_VARIABLES.has(name) || name.startsWith("NVIDIA_REQUIRE_");
}
