// The test runner follows each promise of a test, to name the test of an uncaught error. That costs the tests of a
// server an eighth of their time. Without it such an error belongs to its file, which fails all the same.
const hooks = process.getBuiltinModule("node:async_hooks");
const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
