/**
 * What is set aside beyond the time of the next settlement: the worst case of what may run on before an empty balance
 * has stopped the machine for certain.
 */
export const HOLD_SECONDS = 600;
/**
 * In so long a host that is in touch has stopped an instance for certain: the settlement's loop, the way of the order, and
 * the ten seconds that a container has to end.
 */
export const STOP_SECONDS = 45;
