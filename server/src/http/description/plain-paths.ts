export const PLAIN_PATHS = {};
