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
 * True for a variable that container runtimes read to decide which devices and driver parts to hand in. An instance has
 * the GPUs of its GPU grants alone, so a renter's value of such a variable counts nowhere.
 */
export function isRuntimeVariable(name: string): boolean {
  return RUNTIME_VARIABLES.has(name) || name.startsWith("NVIDIA_REQUIRE_");
}
