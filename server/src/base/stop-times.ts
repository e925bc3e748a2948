/**
 * Seconds of running time that are set aside beyond the next settlement: the worst case of the time that an instance
 * runs on before an empty balance has stopped it for certain.
 */
export const HOLD_SECONDS = 600;
/**
 * Seconds in which a connected host has stopped an instance for certain: the settlement's loop, the way of the order,
 * and the ten seconds that a container has to end.
 */
export const STOP_SECONDS = 45;
